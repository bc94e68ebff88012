/** F5: no damage to the file changes what is read without being noticed. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { ABOUT, iteration, makePlace, NOW, ownerOf, runStart } from "../../test/contracts/journal-samples.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { countOf, figure } from "../../test/support/figure.ts";
import { TerminalError } from "../errors.ts";
import type { JournalHandle } from "./open.ts";
import { SPAN } from "./schema.ts";

const FLIPS = countOf("PAWL_TEST_FLIPS", 400);
const RUNS = ["one", "two"] as const;

/** Two runs, some facts larger than a page, directives taken and waiting; closed, so all of it is in one file. */
async function fill(dir: string): Promise<void> {
  const { journal, inbox, close } = open(dir);
  for (const run of RUNS) {
    await journal.create(run, runStart(run), ABOUT);
    await inbox.put(run, { kind: "pause" }, { source: "test", key: "k" });
    const owned = await journal.own(run, ownerOf(1));
    await owned.takeDirectives(NOW);
    for (let n = 0; n < 30; n += 1) await owned.append([iteration(n, "x".repeat(n * 200))], NOW);
    await inbox.put(run, { kind: "say", text: "go on", when: "next" }, { source: "test" });
  }
  close();
}

async function everything({ journal, inbox }: JournalHandle): Promise<string[]> {
  const reads = [() => journal.runs(), ...RUNS.flatMap((run) => [() => journal.read(run), () => inbox.queued(run)])];
  const found: string[] = [];
  for (const read of reads) {
    try {
      found.push(JSON.stringify(await read()));
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      found.push("noticed");
    }
  }
  return found;
}

/** What is read from `dir` after `harm`, done to a copy. */
async function readAfter(dir: string, harm: (path: string) => void): Promise<string[]> {
  const copy = join(dirname(dir), "copy");
  mkdirSync(copy, { recursive: true });
  const path = join(copy, "journal.db");
  copyFileSync(join(dir, "journal.db"), path);
  harm(path);
  const handle = open(copy);
  try {
    return await everything(handle);
  } finally {
    handle.close();
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Numbers that look random and are the same in every run of the test. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe("damage", () => {
  test(`of ${FLIPS} single flipped bits each is without effect or noticed (F5)`, async () => {
    using place = makePlace();
    await fill(place.dir);
    const original = await readAfter(place.dir, () => {});
    expect(original).not.toContain("noticed");
    const bytes = readFileSync(join(place.dir, "journal.db"));
    const random = numbers(Number(process.env["PAWL_TEST_SEED"] ?? 7));
    let noticed = 0;
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const at = Math.floor(random.next().value * bytes.length);
      const bit = Math.floor(random.next().value * 8);
      const found = await readAfter(place.dir, (path) => {
        const harmed = Buffer.from(bytes);
        harmed[at] = (harmed[at] ?? 0) ^ (1 << bit);
        writeFileSync(path, harmed);
      });
      for (const [index, text] of found.entries()) {
        if (text !== "noticed") expect(text, `byte ${at} bit ${bit}`).toBe(original[index]);
      }
      if (found.includes("noticed")) noticed += 1;
    }
    figure("F5", { flips: FLIPS, noticed, withoutEffect: FLIPS - noticed });
    expect(noticed).toBeGreaterThan(FLIPS / 4);
  });

  test("a changed fact is named by run and seq (F5)", async () => {
    using place = makePlace();
    await fill(place.dir);
    for (const seq of [0, 13, 31]) {
      edit(place.dir, `UPDATE facts SET body = body || ' ' WHERE id = ${SPAN + seq}`);
      const { journal, close } = open(place.dir);
      await expect(journal.read("one")).rejects.toThrow(`run one, fact ${seq} `);
      await expect(journal.own("one", ownerOf(1))).rejects.toThrow(TerminalError);
      if (seq > 0) await expect(journal.read("one", seq - 1)).rejects.toThrow(`run one, fact ${seq} `);
      expect(await journal.read("two")).toHaveLength(32);
      close();
      edit(place.dir, `UPDATE facts SET body = rtrim(body) WHERE id = ${SPAN + seq}`);
    }
    const { journal, close } = open(place.dir);
    expect(await journal.read("one")).toHaveLength(32);
    close();
  });

  test.each([
    ["a lost last fact", `DELETE FROM facts WHERE id = ${SPAN + 31}`],
    ["a lost fact in the middle", `DELETE FROM facts WHERE id = ${SPAN + 7}`],
    [
      "two facts changed for each other",
      `UPDATE facts SET id = ${SPAN} * 3 - id WHERE id IN (${SPAN + 3}, ${SPAN + 4})`,
    ],
    ["a fact made into something else", `UPDATE facts SET body = '[]' WHERE id = ${SPAN + 3}`],
    ["a turned-back head", "UPDATE runs SET head_seq = head_seq - 1 WHERE run = 'one'"],
    ["a turned-back epoch", "UPDATE runs SET epoch = 0 WHERE run = 'one'"],
    ["a renamed run", "UPDATE runs SET run = 'eno' WHERE run = 'one'"],
    ["a lost run", "DELETE FROM runs WHERE run = 'one'"],
  ])("%s is noticed", async (_what, sql) => {
    using place = makePlace();
    await fill(place.dir);
    const found = await readAfter(place.dir, (path) => edit(dirname(path), sql));
    expect(found[1]).toBe("noticed");
  });

  test.each([
    ["a changed directive", "UPDATE inbox SET body = replace(body, 'go on', 'stop')"],
    ["a lost directive", "DELETE FROM inbox"],
    ["a directive marked as taken", "UPDATE runs SET taken = queued"],
  ])("%s is noticed", async (_what, sql) => {
    using place = makePlace();
    await fill(place.dir);
    expect((await readAfter(place.dir, (path) => edit(dirname(path), sql)))[2]).toBe("noticed");
  });

  test("a file cut short, or that is no database, is said to be damaged", async () => {
    using place = makePlace();
    await fill(place.dir);
    const size = readFileSync(join(place.dir, "journal.db")).length;
    for (const length of [100, 5_000, size - 1, size - 4_096]) {
      const found = await readAfter(place.dir, (path) => truncateSync(path, length));
      expect(found, `cut to ${length}`).toContain("noticed");
    }
    const found = await readAfter(place.dir, (path) => writeFileSync(path, "once upon a time ".repeat(1_000)));
    expect(new Set(found)).toEqual(new Set(["noticed"]));
  });
});

function edit(dir: string, sql: string): void {
  const raw = new DatabaseSync(join(dir, "journal.db"));
  raw.exec(sql);
  raw.close();
}
