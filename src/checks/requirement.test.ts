import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkContract } from "../../test/contracts/check.ts";
import { noAbout } from "../../test/support/about.ts";
import { tempDir } from "../../test/support/temp.ts";
import { treeOf } from "../../test/support/verify-tree.ts";
import type { VerifyTree } from "../ports.ts";
import type { Requirement } from "../spec.ts";
import { requirementCheck } from "./requirement.ts";

const specOf = (require: Requirement[], timeoutMs = 120_000) =>
  ({ name: "texts", kind: "requirement", command: "requires …", required: true, timeoutMs, require }) as const;

/** Takes longer than anybody waits, on a text of `a`. */
const CATASTROPHIC = "^(a+)+$";

checkContract(
  "a requirement",
  (situation) => {
    const tree = treeOf({ "a.txt": situation === "hanging" ? `${"a".repeat(40)}!` : "one two three\n" });
    const requirement: Requirement = {
      green: { file: "a.txt", words: { min: 3 }, matches: ["^one"] },
      red: { file: "a.txt", words: { min: 300 }, matches: ["^four"] },
      hanging: { file: "a.txt", matches: [CATASTROPHIC] },
      impossible: { file: "a.txt" },
    }[situation];
    if (situation === "impossible") rmSync(tree.path, { recursive: true });
    return { check: requirementCheck(specOf([requirement])), tree, run: `r-${randomUUID()}` };
  },
  { noProcess: "it searches in a thread" },
);

async function messages(requirement: Requirement, tree: VerifyTree): Promise<string[]> {
  const verdict = await requirementCheck(specOf([requirement])).judge(tree, new AbortController().signal, noAbout);
  if (verdict.is === "pass") return [];
  if (verdict.is === "fail") return verdict.failures.map(({ message }) => message);
  throw new Error(JSON.stringify(verdict));
}
const of = (text: string, requirement: Omit<Requirement, "file">): Promise<string[]> =>
  messages({ file: "a.txt", ...requirement }, treeOf({ "a.txt": text }));

describe("a requirement on a file", () => {
  it("is that it is there, or that it is not", async () => {
    expect(await of("", {})).toEqual([]);
    expect(await of("", { exists: false })).toEqual(["a.txt must not exist"]);
    expect(await messages({ file: "b.txt" }, treeOf())).toEqual(["b.txt does not exist"]);
    expect(await messages({ file: "b.txt", exists: false }, treeOf())).toEqual([]);
    expect(await messages({ file: "b.txt", without: ["x"] }, treeOf())).toEqual(["b.txt does not exist"]);
  });

  it("is about patterns, multi-line, with the line of what must not be there", async () => {
    const text = "# Title\n\nTODO: more\n";
    expect(await of(text, { matches: ["^TODO", "(?i:^# title$)"], lacks: ["FIXME"] })).toEqual([]);
    expect(await of(text, { matches: ["^more"], lacks: ["TODO.*"] })).toEqual([
      "a.txt does not match /^more/",
      'a.txt must not match /TODO.*/, and has "TODO: more"',
    ]);
  });

  it("finds a forbidden phrase across lines, in any case, and in look-alike characters", async () => {
    const without = ["as an AI", "it's worth noting"];
    for (const text of ["As an\nAI, I think", "as\u00a0an\u200b AI", "ａｓ ａｎ ＡＩ", "It’s worth  noting"])
      expect(await of(text, { without }), text).toHaveLength(1);
    expect(await of("has an aim", { without })).toEqual([]);
  });

  it("takes a phrase that must be there as it is written, however lines are wrapped", async () => {
    expect(await of("We the\n  People", { contains: ["the People"] })).toEqual([]);
    expect(await of("we the people", { contains: ["the People"] })).toEqual(['a.txt does not contain "the People"']);
  });

  it("counts words as people do, without marks and rules", async () => {
    const text = "# One — two\n\n---\n\n- three's four-five 6\n";
    expect(await of(text, { words: { min: 5, max: 5 } })).toEqual([]);
    expect(await of(text, { words: { min: 6 } })).toEqual(["a.txt has 5 words, and needs at least 6"]);
    expect(await of(text, { words: { min: 1, max: 4 } })).toEqual(["a.txt has 5 words, and needs 1 to 4"]);
  });

  it("takes a number out of the text and holds it to a range", async () => {
    const number = { pattern: String.raw`coverage: (\S+)%`, min: 80 };
    expect(await of("coverage: 80.5%", { number })).toEqual([]);
    expect(await of("coverage: 7e1%", { number })).toEqual([
      String.raw`a.txt has 70 at /coverage: (\S+)%/, and needs at least 80`,
    ]);
    expect(await of("coverage: 0x60%", { number })).toHaveLength(1);
    expect(await of("nothing", { number })).toEqual([
      String.raw`a.txt has no number where /coverage: (\S+)%/ looks for one`,
    ]);
  });

  it("is a JSON Schema, with what does not fit and where", async () => {
    const schema = {
      type: "object",
      required: ["claims"],
      properties: { claims: { type: "array", minItems: 1, items: { type: "object", required: ["source"] } } },
    };
    expect(await of('{"claims":[{"source":"a"}]}', { schema })).toEqual([]);
    expect(await of('{"claims":[{}]}', { schema })).toEqual([expect.stringMatching(/schema at claims\.0\.source: /)]);
    expect(await of("{claims: 1}", { schema })).toEqual([expect.stringMatching(/^a\.txt is not JSON: /)]);
  });

  it("is unverifiable where a pattern takes for ever, also one inside a schema, and the thread is ended", async () => {
    const text = "a".repeat(40);
    const never: [Omit<Requirement, "file">, string][] = [
      [{ lacks: [CATASTROPHIC] }, `${text}!`],
      [{ schema: { type: "string", pattern: CATASTROPHIC } }, `"${text}!"`],
    ];
    for (const [requirement, content] of never) {
      const check = requirementCheck(specOf([{ file: "a.txt", ...requirement }], 1_500));
      const verdict = await check.judge(treeOf({ "a.txt": content }), new AbortController().signal, noAbout);
      expect(verdict).toEqual({ is: "unverifiable", reason: "no answer within 1500 ms" });
    }
  });

  it("never follows a link out of the tree, and reads nothing but regular files of a bounded size", async () => {
    const tree = treeOf({ "in.txt": "secret", "big.txt": "" });
    const outside = join(tempDir("outside"), "o.txt");
    writeFileSync(outside, "secret");
    symlinkSync(outside, join(tree.path, "out.txt"));
    symlinkSync("in.txt", join(tree.path, "inner.txt"));
    symlinkSync("loop.txt", join(tree.path, "loop.txt"));
    mkdirSync(join(tree.path, "folder"));
    truncateSync(join(tree.path, "big.txt"), 5 * 1024 * 1024);
    const contains = ["secret"];
    expect(await messages({ file: "out.txt", contains }, tree)).toEqual(["out.txt leads out of the tree"]);
    expect(await messages({ file: "inner.txt", contains }, tree)).toEqual([]);
    expect(await messages({ file: "loop.txt" }, tree)).toEqual(["loop.txt is a link that leads to itself"]);
    expect(await messages({ file: "folder" }, tree)).toEqual(["folder is no regular file"]);
    expect(await messages({ file: "big.txt", contains }, tree)).toEqual([
      "big.txt has 5242880 bytes; at most 4194304 are read",
    ]);
    expect(await messages({ file: "big.txt" }, tree)).toEqual([]);
  });
});
