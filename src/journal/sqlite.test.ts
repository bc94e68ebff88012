/** Opening, migrating, and a disk that refuses. */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { ABOUT, iteration, makePlace, NOW, ownerOf, runStart } from "../../test/contracts/journal-samples.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { withoutRoot } from "../../test/support/without-root.ts";
import { TerminalError } from "../errors.ts";
import { JOURNAL_MIGRATIONS } from "./schema.ts";
import { makeStore } from "./sqlite.ts";

const run = promisify(execFile);
const contracts = (name: string) => fileURLToPath(new URL(`../../test/contracts/${name}`, import.meta.url));
const MODULE = new URL("../../test/contracts/journal-sqlite.ts", import.meta.url).href;

describe("opening", () => {
  test("the directory and the files are for the user alone", async () => {
    using place = makePlace();
    const { journal, trace, blobs, close } = open(place.dir);
    await journal.create("r", runStart("r"), ABOUT);
    trace.write("r", { at: 1, turn: 1, kind: "text", data: "x" });
    await trace.flush();
    const { hash } = await blobs.put("content");
    const mode = (...parts: string[]) => statSync(join(place.dir, ...parts)).mode & 0o777;
    expect(mode()).toBe(0o700);
    for (const name of ["journal.db", "journal.db-wal", "journal.db-shm", "trace.db"]) expect(mode(name)).toBe(0o600);
    expect(mode("blobs", hash.slice(0, 2))).toBe(0o700);
    expect(mode("blobs", hash.slice(0, 2), hash.slice(2))).toBe(0o600);
    close();
  });

  test("an older format is migrated once, with what it holds", () => {
    using place = makePlace();
    const path = join(place.dir, "x.db");
    const first = "CREATE TABLE one (a TEXT) STRICT; INSERT INTO one VALUES ('kept')";
    const second = "CREATE TABLE two (b TEXT) STRICT; INSERT INTO two SELECT a FROM one";
    const old = makeStore(path, { durability: "eventually", migrations: [first] });
    old.always();
    old.close();
    for (const _ of [1, 2]) {
      const store = makeStore(path, { durability: "eventually", migrations: [first, second] });
      expect(store.existing()?.statement("SELECT b FROM two").all()).toEqual([["kept"]]);
      store.close();
    }
  });

  test("a migration that fails leaves the old format whole", () => {
    using place = makePlace();
    const path = join(place.dir, "x.db");
    const first = "CREATE TABLE one (a TEXT) STRICT";
    const old = makeStore(path, { durability: "eventually", migrations: [first] });
    old.always();
    const bad = makeStore(path, {
      durability: "eventually",
      migrations: [first, "CREATE TABLE two (b TEXT) STRICT; INSERT INTO nowhere VALUES (1)"],
    });
    expect(() => bad.existing()).toThrow(TerminalError);
    expect(old.always().statement("SELECT name FROM sqlite_schema").all()).toEqual([["one"]]);
    old.close();
  });

  test("a newer format is refused in one clear line, and nothing is changed", async () => {
    using place = makePlace();
    mkdirSync(place.dir, { recursive: true });
    const raw = new DatabaseSync(join(place.dir, "journal.db"));
    raw.exec(`PRAGMA user_version = ${JOURNAL_MIGRATIONS.length + 1}`);
    raw.close();
    const { journal, close } = open(place.dir);
    await expect(journal.runs()).rejects.toThrow(/^journal\.db was written by a newer pawl \(format 3, known 2\)$/);
    await expect(journal.create("r", runStart("r"), ABOUT)).rejects.toThrow(TerminalError);
    close();
  });

  test("eight processes that start on an empty place at once all find one journal", async () => {
    using place = makePlace();
    const script = `
      const { open } = await import(${JSON.stringify(MODULE)});
      const { runStart, ABOUT } = await import(${JSON.stringify(new URL("../../test/contracts/journal-samples.ts", import.meta.url).href)});
      const { journal, close } = open(process.argv[1]);
      await journal.create("r" + process.pid, runStart("r" + process.pid), ABOUT);
      close();`;
    await Promise.all(
      Array.from({ length: 8 }, () => run(process.execPath, ["--input-type=module", "-e", script, place.dir])),
    );
    const { journal, close } = open(place.dir);
    expect(await journal.runs()).toHaveLength(8);
    close();
  });
});

describe("a disk that refuses", () => {
  const append = (dir: string, options: { env?: Record<string, string>; before?: string }) =>
    run(
      "bash",
      [
        "-c",
        `${options.before ?? ":"}; exec "$@"`,
        "bash",
        process.execPath,
        contracts("journal-program.ts"),
        MODULE,
        dir,
        "append",
        "r",
      ],
      { env: { ...process.env, ...options.env }, maxBuffer: 64 * 1024 * 1024 },
    ).then(
      () => ({ stdout: "", stderr: "it did not fail" }),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ stdout, stderr }),
    );

  test.each([
    ["ENOSPC", "no space left for the journal"],
    ["EIO", "the disk failed under the journal"],
    ["EROFS", "the journal cannot be written"],
  ])("%s at any append is told and leaves a journal that can be driven on", async (code, words) => {
    using place = makePlace();
    const { journal, close } = open(place.dir);
    await journal.create("r", runStart("r"), ABOUT);
    for (const at of [1, 4]) {
      const before = (await journal.read("r")).length;
      const { stdout, stderr } = await append(place.dir, { env: { PAWL_FAULT: `append:${at}:${code}` } });
      expect(stderr).toContain(words);
      expect(stdout.trim().split("\n").filter(Boolean)).toHaveLength((at - 1) * 2);
      expect(await journal.read("r")).toHaveLength(before + (at - 1) * 2);
    }
    await (await journal.own("r", ownerOf(process.pid))).append([iteration(1)], NOW);
    close();
  });

  test("a real failing write in the middle of an append loses nothing that was told", async () => {
    using place = makePlace();
    const { journal, close } = open(place.dir);
    await journal.create("r", runStart("r"), ABOUT);
    // In blocks of 1 KiB: the log of the journal cannot grow beyond it.
    const { stdout, stderr } = await append(place.dir, { before: "ulimit -f 600" });
    expect(stderr).toContain("TerminalError");
    const told = stdout.trim().split("\n").length;
    expect(told).toBeGreaterThan(10);
    const facts = await journal.read("r");
    expect(facts.length).toBeGreaterThan(told);
    await (await journal.own("r", ownerOf(process.pid))).append([iteration(1)], NOW);
    close();
  });

  test("after a failed append the owner accepts nothing more, and the next one goes on", async () => {
    using place = makePlace();
    const { journal, close } = open(place.dir);
    await journal.create("r", runStart("r"), ABOUT);
    const owned = await journal.own("r", ownerOf(1));
    const other = new DatabaseSync(join(place.dir, "journal.db"));
    other.exec("CREATE TRIGGER refuse BEFORE INSERT ON facts BEGIN SELECT RAISE(ABORT, 'refused'); END");
    await expect(owned.append([iteration(1)], NOW)).rejects.toThrow(TerminalError);
    other.exec("DROP TRIGGER refuse");
    other.close();
    await expect(owned.append([iteration(1)], NOW)).rejects.toThrow(/cannot be recorded any more/);
    await owned.release();
    const again = await journal.own("r", ownerOf(2));
    expect(await again.append([iteration(1)], NOW)).toMatchObject([{ seq: 1 }]);
    close();
  });

  test("a trace that cannot be written never troubles the writer, and says so when flushed", async () => {
    using place = makePlace();
    mkdirSync(join(place.dir, "trace.db"), { recursive: true });
    const { trace, close } = open(place.dir);
    for (let n = 0; n < 12_500; n += 1) trace.write("r", { at: n, turn: 1, kind: "text", data: n });
    await expect(trace.flush()).rejects.toThrow(/12,500 lines of the agent's stream did not reach the disk/);
    close();
  });

  test("a directory without the right to write is named with what to do", async () => {
    using place = makePlace();
    mkdirSync(place.dir, { recursive: true });
    chmodSync(dirname(place.dir), 0o755);
    chmodSync(place.dir, 0o555);
    using _ = withoutRoot();
    const { journal, close } = open(place.dir);
    await expect(journal.create("r", runStart("r"), ABOUT)).rejects.toMatchObject({
      hint: expect.stringContaining("writable"),
    });
    close();
  });
});
