/** Facts are hashed in blocks: reading from anywhere, going on in the middle of one, and damage beyond the first. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { ABOUT, collect, iteration, makePlace, NOW, ownerOf, runStart } from "../../test/contracts/journal-samples.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { blockOf } from "./chain.ts";
import { SPAN } from "./schema.ts";

const SIZE = blockOf(0).last + 1;
const LAST = SIZE * 2 + 40;

/** In appends of several sizes, by several owners, so that they cross the borders in every way. */
async function fill(dir: string): Promise<void> {
  const { journal, close } = open(dir);
  await journal.create("r", runStart("r"), ABOUT);
  let n = 1;
  for (let size = 1; n <= LAST; size = (size % 9) + 1) {
    const owned = await journal.own("r", ownerOf(1));
    const facts = Array.from({ length: Math.min(size, LAST - n + 1) }, (_, i) => iteration(n + i, "“wörds”"));
    await owned.append(facts, NOW);
    n += facts.length;
  }
  close();
}

const FROM = [0, 1, SIZE - 1, SIZE, SIZE + 1, SIZE * 2 - 1, SIZE * 2, LAST - 1, LAST, LAST + 1];

describe("a run of more than one block", () => {
  test("is read from any fact on, and followed over the border", async () => {
    using place = makePlace();
    await fill(place.dir);
    const { journal, close } = open(place.dir);
    const all = await journal.read("r");
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: LAST + 1 }, (_, seq) => seq));
    for (const from of FROM) expect(await journal.read("r", from)).toEqual(all.slice(from));
    const stop = new AbortController();
    const followed = collect(journal.follow("r", { from: LAST - 2, signal: stop.signal }), { count: SIZE, stop });
    const owned = await journal.own("r", ownerOf(1));
    for (let n = 0; n < SIZE; n += 1) await owned.append([iteration(LAST + 1 + n)], NOW);
    expect((await followed).map(({ seq }) => seq)).toEqual(Array.from({ length: SIZE }, (_, i) => LAST - 2 + i));
    close();
  });

  test.each([1, SIZE - 1, SIZE, SIZE + 70, LAST])(
    "names fact %i when that was changed, wherever it is read from",
    async (seq) => {
      using place = makePlace();
      await fill(place.dir);
      const raw = new DatabaseSync(join(place.dir, "journal.db"));
      raw.exec(`UPDATE facts SET body = body || ' ' WHERE id = ${SPAN + seq}`);
      raw.close();
      const { journal, close } = open(place.dir);
      for (const from of FROM.filter((start) => start <= seq)) {
        await expect(journal.read("r", from)).rejects.toThrow(`run r, fact ${seq} `);
      }
      await expect(journal.own("r", ownerOf(1))).rejects.toThrow(`run r, fact ${seq} `);
      close();
    },
  );

  test("a changed hash at the border is noticed by who begins there, and without effect on who begins before", async () => {
    using place = makePlace();
    await fill(place.dir);
    const raw = new DatabaseSync(join(place.dir, "journal.db"));
    raw.exec(`UPDATE facts SET hash = zeroblob(32) WHERE id = ${SPAN + SIZE - 1}`);
    raw.close();
    const { journal, close } = open(place.dir);
    await expect(journal.read("r", SIZE + 5)).rejects.toThrow("the journal is damaged");
    expect(await journal.read("r", SIZE - 5)).toHaveLength(LAST + 6 - SIZE);
    close();
  });
});
