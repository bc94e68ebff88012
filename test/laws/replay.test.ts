/** Journals of every version fold to the state that was written down when the version was made (F19). */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Fact } from "../../src/events.ts";
import { apply, fold } from "../../src/loop/fold.ts";
import type { RunState } from "../../src/loop/state.ts";
import { figure } from "../support/figure.ts";
import { stateOf } from "../corpus/fold-state.ts";

const CORPUS = join(import.meta.dirname, "../corpus");
const files = globSync("*.jsonl", { cwd: CORPUS }).toSorted();
const read = (name: string): string => readFileSync(join(CORPUS, name), "utf8");
const hash = (state: unknown): string => createHash("sha256").update(JSON.stringify(state)).digest("hex");

describe("the corpus", () => {
  test.each(files)("%s folds to the committed state, field by field (F19)", (name) => {
    const committed: unknown = JSON.parse(read(name.replace(/\.jsonl$/, ".state.json")));
    const now: unknown = JSON.parse(stateOf(read(name)));
    // A difference in words before one of hashes.
    expect(now).toEqual(committed);
    expect(hash(now)).toBe(hash(committed));
    figure("F19", { file: name, stateHash: hash(now) });
  });

  test.each(files)("%s folds to the same one fact after the other, and with facts of a type to come (F19)", (name) => {
    const facts = read(name)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Fact);
    let state: RunState | undefined;
    for (const fact of facts) state = apply(state, fact);
    expect(state).toEqual(fold(facts));
    const last = facts.at(-1);
    const unknown = { ...last, type: "thing-happened", seq: (last?.seq ?? 0) + 1 } as unknown as Fact;
    const { seq: _, ...after } = fold([...facts, unknown]);
    const { seq: __, ...before } = fold(facts);
    expect(after).toEqual(before);
  });
});
