/** Facts told by how they differ: whole again when read, beside whole ones of before, and never like one that is not there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ABOUT, iteration, makePlace, NOW, ownerOf, runStart } from "../../test/contracts/journal-samples.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { FACT_VERSION, type Fact } from "../events.ts";
import { lengthen, shorten, type Told } from "./shorten.ts";

const RUN = "r";
const CORPUS = new URL(`../../test/corpus/facts-v${FACT_VERSION}.jsonl`, import.meta.url);

/** Few values, so that facts are often alike; fields that come and go, in changing order. */
const fields = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom("tree", "n", "like", "7"),
    fc.oneof(fc.constantFrom(1, "x", null, "ö\u2028\ud800"), fc.jsonValue({ maxDepth: 1 })),
  ),
  { selector: ([name]) => name },
);
const block = fc.array(fc.tuple(fc.constantFrom("a-made", "b-made"), fc.constantFrom(1, 2), fields), { maxLength: 40 });

/** As they come out of JSON, which is how facts are when they are told. */
const factsOf = (drawn: readonly [string, number, [string, unknown][]][]): Fact[] =>
  drawn.map(([type, v, rest], seq) => {
    const fact = { v, lane: "main", seq, type, ...Object.fromEntries(rest), run: RUN };
    return JSON.parse(JSON.stringify(fact)) as Fact;
  });

function bodiesOf(dir: string): Told[] {
  const raw = new DatabaseSync(join(dir, "journal.db"));
  const rows = raw.prepare("SELECT body FROM facts ORDER BY id").all();
  raw.close();
  return rows.map(({ body }) => JSON.parse(String(body)) as Told);
}

describe("a fact told by how it differs", () => {
  test("is whole again, to the letter, whatever was before it", () => {
    fc.assert(
      fc.property(block, (drawn) => {
        const facts = factsOf(drawn);
        const read: Fact[] = [];
        for (const [n, fact] of facts.entries()) {
          const told = JSON.parse(JSON.stringify(shorten(fact, facts.slice(0, n)))) as Told;
          const whole = lengthen(told, { run: RUN, before: read });
          if (whole !== undefined) read.push(whole);
        }
        expect(read.map((fact) => JSON.stringify(fact))).toEqual(facts.map((fact) => JSON.stringify(fact)));
      }),
      { numRuns: 500 },
    );
  });

  test("repeats nothing but what differs, and is read from any place on", async () => {
    using place = makePlace();
    const { journal, close } = open(place.dir);
    await journal.create(RUN, runStart(RUN), ABOUT);
    const owned = await journal.own(RUN, ownerOf(1));
    const written = await owned.append([iteration(1), iteration(2), { type: "lane-end", why: "over" }], NOW);
    written.push(...(await owned.append([iteration(3, "another")], { at: 5, elapsed: 2_000 })));
    expect(bodiesOf(place.dir).slice(2)).toEqual([
      { like: 1, seq: 2, n: 2 },
      expect.objectContaining({ type: "lane-end", v: FACT_VERSION }),
      { like: 2, seq: 4, at: 5, elapsed: 2_000, n: 3, why: "another" },
    ]);
    expect((await journal.read(RUN)).slice(1)).toEqual(written);
    expect(await journal.read(RUN, 4)).toEqual(written.slice(3));
    close();
  });

  test.each([0, -1, 2, 0.5, "1", null, undefined])("like %j, where one was before it, is no fact", (like) => {
    const before = factsOf([["a-made", 1, []]]);
    expect(lengthen({ like, seq: 1 }, { run: RUN, before })).toBeUndefined();
  });
});

describe("a journal of the format before", () => {
  test("whose facts are whole is read as it was, driven on, and refused to the pawl that wrote it", async () => {
    using place = makePlace();
    const old = open(place.dir);
    const run = old.importRun(readFileSync(CORPUS, "utf8"));
    const before = await old.journal.read(run);
    old.close();
    expect(bodiesOf(place.dir).every(({ v }) => v !== undefined)).toBe(true);
    const raw = new DatabaseSync(join(place.dir, "journal.db"));
    raw.exec("PRAGMA user_version = 1");
    raw.close();

    const { journal, close } = open(place.dir);
    const replayed: Fact[] = [];
    const owned = await journal.own(run, ownerOf(1), (fact) => replayed.push(fact));
    expect(replayed).toEqual(before);
    const written = await owned.append([iteration(90), iteration(91)], NOW);
    expect(await journal.read(run)).toEqual([...before, ...written]);
    close();
    expect(bodiesOf(place.dir).at(-1)).toMatchObject({ like: 1, n: 91 });
    const after = new DatabaseSync(join(place.dir, "journal.db"));
    expect(after.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    after.close();
  });
});
