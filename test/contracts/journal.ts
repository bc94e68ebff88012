/** What any journal must do. An implementation's test calls `journalContract` with how it is opened. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { TerminalError, UsageError } from "../../src/errors.ts";
import type { Directive, NewFact } from "../../src/events.ts";
import type { JournalHandle, JournalOptions } from "../../src/journal/open.ts";
import { journalStreamsContract } from "./journal-streams.ts";
import { ABOUT, collect, isRunning, iteration, makePlace, NOW, ownerOf, runStart } from "./journal-samples.ts";

export type OpenForContract = (dir: string, overrides?: Partial<JournalOptions>) => JournalHandle;

interface Subject {
  name: string;
  open: OpenForContract;
  /** A module that exports `open`, for other processes. */
  module: URL;
}

const PROGRAM = fileURLToPath(new URL("journal-program.ts", import.meta.url));
const SAY: Directive = { kind: "say", text: "look at the parser", when: "next" };
const RACERS = 8;

export function journalContract({ name, open, module }: Subject): void {
  const program = (dir: string, ...rest: string[]): ChildProcess =>
    spawn(process.execPath, [PROGRAM, module.href, dir, ...rest], { stdio: ["pipe", "pipe", "inherit"] });
  const runProgram = (dir: string, ...rest: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, module.href, dir, ...rest]);

  /** A journal with one run `r`. */
  async function withRun(dir: string, overrides?: Partial<JournalOptions>): Promise<JournalHandle> {
    const handle = open(dir, overrides);
    await handle.journal.create("r", runStart("r"), ABOUT);
    return handle;
  }

  describe(`${name}: runs`, () => {
    test("looking at an empty place finds nothing and leaves nothing", async () => {
      using place = makePlace();
      const { journal, inbox, trace, blobs, close } = open(place.dir);
      expect(await journal.runs()).toEqual([]);
      expect(await trace.read("r")).toEqual([]);
      expect(await blobs.get("0".repeat(64))).toBeUndefined();
      await expect(journal.read("r")).rejects.toThrow(UsageError);
      await expect(journal.own("r", ownerOf(1))).rejects.toThrow(UsageError);
      await expect(inbox.queued("r")).rejects.toThrow(UsageError);
      await expect(inbox.put("r", SAY, { source: "test" })).rejects.toThrow(UsageError);
      close();
      expect(existsSync(place.dir)).toBe(false);
    });

    test("a run is made with its first fact, and only once", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir, { wall: () => 1_700_000_000_000 });
      const facts = await journal.read("r");
      expect(facts).toMatchObject([{ v: 1, run: "r", lane: "main", seq: 0, type: "run-start" }]);
      await expect(journal.create("r", runStart("r"), ABOUT)).rejects.toThrow(/there is a run r already/);
      expect(await journal.read("r")).toEqual(facts);
      expect(await journal.runs()).toEqual([
        { run: "r", createdAt: 1_700_000_000_000, ...ABOUT, owner: undefined, lastSeq: 0 },
      ]);
      close();
    });

    test("runs are kept apart", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      await journal.create("s", runStart("s"), ABOUT);
      const [first, second] = [await journal.own("r", ownerOf(1)), await journal.own("s", ownerOf(2))];
      await first.append([iteration(1)], NOW);
      await second.append([iteration(1), iteration(2)], NOW);
      await first.append([iteration(2)], NOW);
      expect((await journal.read("r")).map(({ run, seq }) => `${run}${seq}`)).toEqual(["r0", "r1", "r2"]);
      expect((await journal.read("s")).map(({ run, seq }) => `${run}${seq}`)).toEqual(["s0", "s1", "s2"]);
      close();
    });
  });

  describe(`${name}: appending`, () => {
    test("facts are read back as they were returned, chained and in order, from any seq", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      const owned = await journal.own("r", ownerOf(1));
      const written = [...(await owned.append([iteration(1), { ...iteration(2), lane: "b" }], NOW))];
      written.push(...(await owned.append([iteration(3, "naïve \u0000 \ud800 “text”\n")], NOW)));
      expect(await owned.append([], NOW)).toEqual([]);
      const all = await journal.read("r");
      expect(all.slice(1)).toEqual(written);
      expect(written).toMatchObject([
        { seq: 1, lane: "main", epoch: 1, ...NOW },
        { seq: 2, lane: "b" },
        { seq: 3, why: "naïve \u0000 \ud800 “text”\n" },
      ]);
      expect(await journal.read("r", 2)).toEqual(all.slice(2));
      expect(await journal.read("r", 9)).toEqual([]);
      close();
    });

    test("an invalid fact is refused together with those beside it, and the owner can go on", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      const owned = await journal.own("r", ownerOf(1));
      const bad = { type: "iteration-start", n: -1, why: "" } as NewFact;
      await expect(owned.append([iteration(1), bad], NOW)).rejects.toThrow(TerminalError);
      await owned.append([iteration(1)], NOW);
      expect(await journal.read("r")).toHaveLength(2);
      close();
    });

    test("a new owner gets every fact under a higher epoch, and shuts the old one out", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir, { isAlive: () => false });
      const before = await journal.own("r", ownerOf(1));
      await before.append([iteration(1)], NOW);
      const replayed: unknown[] = [];
      const after = await journal.own("r", ownerOf(2), (fact) => replayed.push(fact));
      expect(after.epoch).toBeGreaterThan(before.epoch);
      expect(replayed).toEqual(await journal.read("r"));
      await expect(before.append([iteration(2)], NOW)).rejects.toThrow(/another driver has taken over run r/);
      await expect(before.append([iteration(2)], NOW)).rejects.toThrow(TerminalError);
      await expect(before.takeDirectives(NOW)).resolves.toEqual([]);
      await before.release();
      expect(await after.append([iteration(2)], NOW)).toMatchObject([{ seq: 2, epoch: after.epoch }]);
      close();
    });

    test("a living owner is named to who else wants the run, until it lets go", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir, { isAlive: () => true });
      const owned = await journal.own("r", ownerOf(4711));
      expect(await journal.runs()).toMatchObject([{ owner: ownerOf(4711) }]);
      const refused = journal.own("r", ownerOf(4712));
      await expect(refused).rejects.toThrow(UsageError);
      await expect(refused).rejects.toThrow(/4711 on here/);
      await owned.release();
      expect(await journal.runs()).toMatchObject([{ owner: undefined }]);
      await journal.own("r", ownerOf(4712));
      close();
    });

    test("of eight handles that want the run at once exactly one gets it", async () => {
      using place = makePlace();
      (await withRun(place.dir)).close();
      const handles = Array.from({ length: RACERS }, () => open(place.dir, { isAlive: () => true }));
      const results = await Promise.allSettled(handles.map(({ journal }, at) => journal.own("r", ownerOf(at + 1))));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      handles.forEach(({ close }) => close());
    });

    test("of eight processes that want the run at once exactly one gets it", async () => {
      using place = makePlace();
      (await withRun(place.dir)).close();
      const children = Array.from({ length: RACERS }, () => program(place.dir, "own", "r"));
      const lines = children.map((child) => linesOf(child));
      for (const line of lines) expect((await line.next()).value).toBe("ready");
      children.forEach((child) => child.stdin?.write("go\n"));
      const words = await Promise.all(lines.map(async (line) => (await line.next()).value));
      expect(words.filter((word) => word === "won")).toHaveLength(1);
      expect(words.filter((word) => word === "UsageError")).toHaveLength(RACERS - 1);
      children.forEach((child) => child.stdin?.end());
      await Promise.all(children.map(ended));
    });

    test("every fact a killed driver was told is written is there, and the run can be driven on", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      for (const acknowledged of [1, 40, 115]) {
        const child = program(place.dir, "append", "r");
        let last = -1;
        let count = 0;
        for await (const line of linesOf(child)) {
          last = Number(line);
          count += 1;
          if (count === acknowledged) child.kill("SIGKILL");
        }
        await ended(child);
        const facts = await journal.read("r");
        expect(facts.length).toBeGreaterThan(last);
        expect(facts.length % 2).toBe(1);
        expect(isRunning(ownerOf(child.pid ?? 0))).toBe(false);
      }
      const owned = await journal.own("r", ownerOf(process.pid));
      expect(owned.epoch).toBe(4);
      await owned.append([iteration(1)], NOW);
      close();
    });

    test("a driver refuses to go on over types it does not know; readers get them as they are", async () => {
      using place = makePlace();
      const newer = await withRun(place.dir, {
        validator: async () => () => {},
        knownTypes: new Set(["run-start", "moon-landed"]),
      });
      const future = { type: "moon-landed", crater: 7 } as unknown as NewFact;
      const owned = await newer.journal.own("r", ownerOf(1));
      await owned.append([future], NOW);
      await owned.release();
      newer.close();
      const { journal, close } = open(place.dir);
      expect(await journal.read("r")).toMatchObject([{ type: "run-start" }, { type: "moon-landed", crater: 7 }]);
      await expect(journal.own("r", ownerOf(1))).rejects.toThrow(/newer pawl .*fact 1: type moon-landed/);
      expect(await journal.runs()).toMatchObject([{ owner: undefined }]);
      close();
    });
  });

  describe(`${name}: following`, () => {
    test("what is there comes first, then what other processes append, in order", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      const stop = new AbortController();
      const following = collect(journal.follow("r", { from: 0, signal: stop.signal }), { count: 21, stop });
      await runProgram(place.dir, "append", "r", "10");
      expect((await following).map(({ seq }) => seq)).toEqual(Array.from({ length: 21 }, (_, seq) => seq));
      close();
    });

    test("facts of the same handle come too, from the seq that was asked for", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      const stop = new AbortController();
      const following = collect(journal.follow("r", { from: 2, signal: stop.signal }), { count: 2, stop });
      const owned = await journal.own("r", ownerOf(1));
      for (const n of [1, 2, 3]) await owned.append([iteration(n)], NOW);
      expect((await following).map(({ seq }) => seq)).toEqual([2, 3]);
      close();
    });

    test("it ends with an error when the journal is closed under it", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      const stop = new AbortController();
      const following = collect(journal.follow("r", { from: 1, signal: stop.signal }), { count: 1, stop });
      setTimeout(close, 30);
      await expect(following).rejects.toThrow(TerminalError);
    });

    test("it ends when aborted, also while nothing happens", async () => {
      using place = makePlace();
      const { journal, close } = await withRun(place.dir);
      const stop = new AbortController();
      const following = collect(journal.follow("r", { from: 1, signal: stop.signal }), { count: 1, stop });
      setTimeout(() => stop.abort(), 30);
      expect(await following).toEqual([]);
      close();
    });
  });

  describe(`${name}: inbox`, () => {
    test("a directive waits for a driver, moves into the journal once, and its key stays used", async () => {
      using place = makePlace();
      const { journal, inbox, close } = await withRun(place.dir, { wall: () => 5_000 });
      const receipt = await inbox.put("r", SAY, { source: "cli", key: "k" });
      expect(await inbox.put("r", { kind: "pause" }, { source: "web", key: "k" })).toEqual(receipt);
      const second = await inbox.put("r", { kind: "interrupt" }, { source: "cli" });
      expect(await inbox.queued("r")).toEqual([receipt, second]);
      const owned = await journal.own("r", ownerOf(1));
      const facts = await owned.takeDirectives(NOW);
      expect(facts).toMatchObject([
        { seq: 1, type: "directive-received", id: receipt.id, directive: SAY, source: "cli", queuedAt: 5_000 },
        { seq: 2, type: "directive-received", id: second.id, directive: { kind: "interrupt" } },
      ]);
      expect(await inbox.queued("r")).toEqual([]);
      expect(await owned.takeDirectives(NOW)).toEqual([]);
      expect(await inbox.put("r", SAY, { source: "cli", key: "k" })).toEqual(receipt);
      expect(await inbox.queued("r")).toEqual([]);
      const third = await inbox.put("r", { kind: "pause" }, { source: "cli" });
      expect(await owned.takeDirectives(NOW)).toMatchObject([{ seq: 3, id: third.id }]);
      expect((await journal.read("r")).slice(1, 3)).toEqual(facts);
      close();
    });

    test("the same key means another directive in another run", async () => {
      using place = makePlace();
      const { journal, inbox, close } = await withRun(place.dir);
      await journal.create("s", runStart("s"), ABOUT);
      await inbox.put("r", SAY, { source: "cli", key: "k" });
      await inbox.put("s", { kind: "pause" }, { source: "cli", key: "k" });
      expect(await inbox.queued("r")).toMatchObject([{ directive: SAY }]);
      expect(await inbox.queued("s")).toMatchObject([{ directive: { kind: "pause" } }]);
      close();
    });

    test("what is no directive is refused where it is queued", async () => {
      using place = makePlace();
      const { inbox, close } = await withRun(place.dir);
      const bad = [
        { kind: "dance" },
        { kind: "say", text: "", when: "now" },
        { kind: "stop" },
        { kind: "pause", x: 1 },
      ];
      for (const directive of bad) {
        await expect(inbox.put("r", directive as Directive, { source: "cli" })).rejects.toThrow(UsageError);
      }
      expect(await inbox.queued("r")).toEqual([]);
      close();
    });

    test("a driver wakes at once for what waits, and soon for what another process puts", async () => {
      using place = makePlace();
      const { journal, inbox, close } = await withRun(place.dir);
      const owned = await journal.own("r", ownerOf(1));
      const forever = new AbortController().signal;
      const woken = owned.inboxChanged(forever);
      await runProgram(place.dir, "put", "r");
      await woken;
      await owned.inboxChanged(forever);
      expect(await owned.takeDirectives(NOW)).toHaveLength(1);
      const again = owned.inboxChanged(forever);
      await inbox.put("r", SAY, { source: "same process" });
      await again;
      await owned.takeDirectives(NOW);
      const stop = new AbortController();
      const waiting = owned.inboxChanged(stop.signal);
      await owned.append([iteration(1)], NOW);
      stop.abort();
      await waiting;
      close();
    });
  });

  journalStreamsContract({ name, open, runProgram });
}

async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  if (child.stdout !== null) yield* createInterface(child.stdout);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
