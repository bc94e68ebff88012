/** Ten edits by someone who can write pawl's state, as an unfenced agent could: each is noticed. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { ABOUT, iteration, makePlace, NOW, ownerOf, runStart } from "../../test/contracts/journal-samples.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { TerminalError } from "../errors.ts";
import { SPAN } from "./schema.ts";

const RUN = "one";
const FACTS = 20;
const EDITS: Readonly<Record<string, string>> = {
  "a fact reworded": `UPDATE facts SET body = replace(body, '"n":5', '"n":6') WHERE body LIKE '%"n":5%'`,
  "the last fact removed": "DELETE FROM facts WHERE id = (SELECT max(id) FROM facts)",
  "a fact in the middle removed": "DELETE FROM facts WHERE id = (SELECT max(id) - 5 FROM facts)",
  "all facts removed": "DELETE FROM facts",
  "a fact added": "INSERT INTO facts SELECT max(id) + 1, hash, body FROM facts",
  "two facts exchanged": `UPDATE facts SET id = CASE id % ${SPAN} WHEN 3 THEN -4 ELSE -3 END WHERE id % ${SPAN} IN (3, 4); UPDATE facts SET id = ${SPAN} - id WHERE id < 0`,
  "the head set back": "UPDATE runs SET head_seq = head_seq - 1",
  "another owner": `UPDATE runs SET owner = '{"pid":1,"startedAt":"x","boot":"x","host":"x"}', epoch = epoch + 1`,
  "the run removed": "DELETE FROM runs",
  "a directive slipped in": "INSERT INTO inbox VALUES (1, 'k', '{}', 'x'); UPDATE runs SET queued = queued + 1",
};

it(`each of ${Object.keys(EDITS).length} edits of the journal without a fence is noticed (A13)`, async () => {
  using place = makePlace();
  const { journal, close } = open(place.dir);
  await journal.create(RUN, runStart(RUN), ABOUT);
  const owned = await journal.own(RUN, ownerOf(1));
  for (let n = 0; n < FACTS; n += 1) await owned.append([iteration(n, "x")], NOW);
  await owned.release();
  close();
  const unnoticed: string[] = [];
  for (const [name, sql] of Object.entries(EDITS)) {
    const copy = join(dirname(place.dir), "copy");
    mkdirSync(copy, { recursive: true });
    copyFileSync(join(place.dir, "journal.db"), join(copy, "journal.db"));
    const database = new DatabaseSync(join(copy, "journal.db"));
    database.exec(sql);
    database.close();
    const handle = open(copy);
    try {
      await handle.journal.runs();
      const again = await handle.journal.own(RUN, ownerOf(2));
      await again.append([iteration(FACTS, "x")], NOW);
      unnoticed.push(name);
    } catch (error) {
      if (!(error instanceof TerminalError)) unnoticed.push(`${name}: ${String(error)}`);
    } finally {
      handle.close();
      rmSync(copy, { recursive: true, force: true });
    }
  }
  expect(unnoticed).toEqual([]);
});
