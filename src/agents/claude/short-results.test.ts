import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortResults } from "./short-results.ts";

const MEBIBYTE = 1024 * 1024;
const KEPT_CHARS = 16_384;

async function passed(bytes: Buffer, cuts: readonly number[] = []): Promise<string[]> {
  const stream = shortResults();
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  let from = 0;
  for (const end of ends) {
    stream.write(bytes.subarray(from, end));
    from = end;
  }
  stream.end();
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8").split("\n");
}

const result = (content: unknown): string => JSON.stringify({ type: "user", message: { content } });

describe("what the SDK gets of Claude Code's stream", () => {
  it("is what it wrote, byte for byte, where no string of a tool's result is long, however it comes in pieces", async () => {
    const line = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }).map(result),
      fc.string().map((text) => text.replaceAll("\n", "")),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 6 }), async (texts, cuts) => {
        const bytes = Buffer.from(texts.join("\n"));
        expect(await passed(bytes, cuts)).toEqual(bytes.toString("utf8").split("\n"));
      }),
    );
  });

  it("is a whole message still when a tool's result was shortened, at any character or escape", async () => {
    const unit = fc.constantFrom("x", "€", "😀", "\\", '"', "\n", "\u0001", "\ud800");
    await fc.assert(
      fc.asyncProperty(
        fc.array(unit, { minLength: 1, maxLength: 7 }),
        fc.array(fc.nat(), { maxLength: 3 }),
        async (units, cuts) => {
          const text = units.join("").repeat(Math.ceil((200 * 1024) / units.length));
          const [line = ""] = await passed(Buffer.from(`${result([text, "after"])}\n`), cuts);
          const [short, after] = (JSON.parse(line) as { message: { content: string[] } }).message.content;
          expect(short?.slice(0, KEPT_CHARS)).toBe(text.slice(0, KEPT_CHARS));
          expect(short?.endsWith("…")).toBe(true);
          expect(text.startsWith(short?.slice(0, -1) ?? "?")).toBe(true);
          expect(Buffer.byteLength(line)).toBeLessThan(MEBIBYTE);
          expect(after).toBe("after");
        },
      ),
      { numRuns: 15 },
    );
  });

  it("is whole where it may be answered with parts of itself: only what tools returned is shortened", async () => {
    const request = JSON.stringify({ type: "control_request", request: { input: "z".repeat(4 * MEBIBYTE) } });
    expect(await passed(Buffer.from(`${request}\nnext`))).toEqual([request, "next"]);
  });

  it("is a bounded part of a line that no message could be, and the next one whole", async () => {
    const [line, next] = await passed(Buffer.concat([Buffer.alloc(20 * MEBIBYTE), Buffer.from("\nnext")]));
    expect(line?.length).toBe(8 * MEBIBYTE);
    expect(next).toBe("next");
  });
});
