/** The part of the journal's contract that is about what is never folded: the trace, the blobs, and masking in all. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeRedact } from "../../src/journal/redact.ts";
import type { OpenForContract } from "./journal.ts";
import { ABOUT, collect, iteration, makePlace, NOW, ownerOf, runStart } from "./journal-samples.ts";

interface Subject {
  name: string;
  open: OpenForContract;
  /** Another process: `trace RUN COUNT` writes that many lines. */
  runProgram: (dir: string, ...rest: string[]) => Promise<unknown>;
}

export function journalStreamsContract({ name, open, runProgram }: Subject): void {
  describe(`${name}: trace and blobs`, () => {
    test("lines come back in order, by turn, and from a number on", async () => {
      using place = makePlace();
      const { trace, close } = open(place.dir);
      for (let n = 0; n < 2_500; n += 1) trace.write("r", { at: n, turn: n % 2, kind: "text", data: { n } });
      trace.write("s", { at: 1, turn: 0, kind: "text", data: "of another run" });
      await trace.flush();
      const lines = await trace.read("r");
      expect(lines.map(({ line }) => line.at)).toEqual(Array.from({ length: 2_500 }, (_, n) => n));
      expect(await trace.read("r", { from: lines[2_000]?.n ?? 0 })).toEqual(lines.slice(2_000));
      expect(await trace.read("r", { turn: 1 })).toHaveLength(1_250);
      close();
    });

    test("a stream of another process is tailed live, without asking it to flush", async () => {
      using place = makePlace();
      const { trace, close } = open(place.dir);
      const stop = new AbortController();
      const tailing = collect(trace.tail("r", { from: 0, signal: stop.signal }), { count: 25, stop });
      await runProgram(place.dir, "trace", "r", "20");
      for (let n = 20; n < 25; n += 1) trace.write("r", { at: n, turn: 1, kind: "text", data: { n } });
      expect((await tailing).map(({ line }) => line.at)).toEqual(Array.from({ length: 25 }, (_, n) => n));
      close();
    });

    test("an endless line, a loop and a strange value do no harm", async () => {
      using place = makePlace();
      const { trace, close } = open(place.dir);
      const loop: Record<string, unknown> = {};
      loop.self = loop;
      trace.write("r", { at: 1, turn: 1, kind: "text", data: "x".repeat(10_000_000) });
      trace.write("r", { at: 2, turn: 1, kind: "text", data: Array.from({ length: 50_000 }, () => "many") });
      trace.write("r", { at: 3, turn: 1, kind: "text", data: { big: 10n, nothing: undefined } });
      trace.write("r", { at: 4, turn: 1, kind: "text", data: undefined });
      trace.write("r", { at: 5, turn: 1, kind: "text", data: loop });
      await expect(trace.flush()).rejects.toThrow(/1 line of the agent's stream/);
      const lines = await trace.read("r");
      expect(lines.map(({ line }) => line.at)).toEqual([1, 2, 3, 4]);
      for (const { line } of lines) expect(JSON.stringify(line.data).length).toBeLessThan(70_000);
      close();
    });

    test("content is found by its hash, once, whatever its bytes are", async () => {
      using place = makePlace();
      const { blobs, close } = open(place.dir);
      const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 7) % 256);
      const { hash, bytes: size } = await blobs.put(bytes);
      expect(size).toBe(70_000);
      expect(Uint8Array.from((await blobs.get(hash)) ?? [])).toEqual(bytes);
      const writer = blobs.writer(70_000);
      for (let at = 0; at < 70_000; at += 999) writer.write(bytes.subarray(at, at + 999));
      expect(await writer.end()).toEqual({ hash, bytes: 70_000, dropped: 0 });
      expect(await blobs.put("")).toMatchObject({ bytes: 0 });
      const text = await blobs.put("naïve “text”");
      expect(Buffer.from((await blobs.get(text.hash)) ?? []).toString()).toBe("naïve “text”");
      expect(await blobs.get("f".repeat(64))).toBeUndefined();
      expect(await blobs.get("../../etc/passwd")).toBeUndefined();
      close();
    });
  });

  describe(`${name}: secrets`, () => {
    test("nothing that is written holds one, in any sink", async () => {
      using place = makePlace();
      const secret = "pa55-w0rd/with+signs&more";
      const hidden = [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)];
      const redact = makeRedact({ environment: { SERVICE_TOKEN: secret } });
      const { journal, inbox, trace, blobs, close } = open(place.dir, { redact });
      for (const [at, text] of hidden.entries()) {
        const run = `r${at}`;
        await journal.create(run, runStart(run, text), { ...ABOUT, goal: text });
        await inbox.put(run, { kind: "say", text, when: "now" }, { source: text });
        const owned = await journal.own(run, ownerOf(1));
        await owned.append([iteration(1, text)], NOW);
        await owned.takeDirectives(NOW);
        trace.write(run, { at: 1, turn: 1, kind: "text", data: { deep: [{ text }] } });
        await blobs.put(text);
        const writer = blobs.writer(1_000_000);
        for (const char of `before ${text} after`) writer.write(Buffer.from(char));
        await writer.end();
      }
      await trace.flush();
      const files = readdirSync(place.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.length).toBeGreaterThan(3);
      for (const file of files) {
        const content = readFileSync(join(file.parentPath, file.name));
        for (const text of hidden) expect(content.includes(text)).toBe(false);
      }
      expect(await journal.read("r0", 1)).toMatchObject([
        { why: "***" },
        { directive: { text: "***" }, source: "***" },
      ]);
      close();
    });
  });
}
