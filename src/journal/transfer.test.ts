/** F19: journals of every released version are read and written back byte for byte. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { iteration, makePlace, NOW, ownerOf } from "../../test/contracts/journal-samples.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { TerminalError, UsageError } from "../errors.ts";
import { FACT_VERSION } from "../events.ts";

const CORPUS = fileURLToPath(new URL("../../test/corpus", import.meta.url));
const files = globSync("*.jsonl", { cwd: CORPUS }).toSorted((one, other) => one.localeCompare(other));
const textOf = (name: string) => readFileSync(`${CORPUS}/${name}`, "utf8");

describe("a run as lines", () => {
  test("there is a corpus of the present version", () => expect(files).toContain(`facts-v${FACT_VERSION}.jsonl`));

  test.each(files)("%s comes out as it went in, and can be driven on (F19)", async (name) => {
    using place = makePlace();
    const { journal, importRun, exportRun, close } = open(place.dir);
    const text = textOf(name);
    const run = importRun(text);
    expect(exportRun(run)).toBe(text);
    expect(await journal.runs()).toMatchObject([{ run, lastSeq: text.trimEnd().split("\n").length - 1 }]);
    const epochs: number[] = [];
    const owned = await journal.own(run, ownerOf(1), ({ epoch }) => epochs.push(epoch));
    expect(owned.epoch).toBeGreaterThan(Math.max(...epochs));
    await owned.append([iteration(4)], NOW);
    expect(exportRun(run).startsWith(text)).toBe(true);
    expect(() => importRun(text)).toThrow(UsageError);
    close();
  });

  test("a changed, reordered or foreign file is refused and nothing is taken in", async () => {
    using place = makePlace();
    const { journal, importRun, close } = open(place.dir);
    const lines = textOf(`facts-v${FACT_VERSION}.jsonl`).trimEnd().split("\n");
    const [first = "", second = "", third = "", ...rest] = lines;
    const changed = [first, second.replace("4242", "4243"), third, ...rest];
    for (const bad of [changed, [first, third, second, ...rest], lines.slice(1), ["{}"], ["not json"], []]) {
      expect(() => importRun(bad.join("\n"))).toThrow(UsageError);
    }
    expect(await journal.runs()).toEqual([]);
    expect(importRun(lines.slice(0, 5).join("\n"))).not.toBe("");
    close();
  });

  test("facts of a version to come are read, and refused to a driver", async () => {
    using place = makePlace();
    const { journal, importRun, close } = open(place.dir);
    const [first = ""] = textOf(`facts-v${FACT_VERSION}.jsonl`).split("\n");
    const run = importRun(first.replace(`"v":${FACT_VERSION}`, `"v":${FACT_VERSION + 1}`));
    expect(await journal.read(run)).toHaveLength(1);
    await expect(journal.own(run, ownerOf(1))).rejects.toThrow(TerminalError);
    close();
  });
});
