/** A ring is the end of what was put in. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { makeLastBytes } from "./last-bytes.ts";

test("as much is kept when there was no room for it at first", () => {
  const sizes = fc.array(fc.nat({ max: 150_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(sizes, fc.nat({ max: 500_000 }), (sizes, limit) => {
      const pieces = sizes.map((size, n) => Buffer.alloc(size, `${n} of them`));
      const last = makeLastBytes(limit);
      for (const piece of pieces) last.push(piece);
      const all = Buffer.concat(pieces);
      expect(Buffer.concat(last.parts()).equals(all.subarray(Math.max(0, all.length - limit)))).toBe(true);
    }),
  );
});

test("whatever is pushed in whatever pieces, the last bytes are kept in order and the others counted", () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, fc.nat({ max: 40 }), (pieces, limit) => {
      const last = makeLastBytes(limit);
      for (const piece of pieces) last.push(piece);
      const all = Buffer.concat(pieces);
      const kept = all.subarray(Math.max(0, all.length - limit));
      expect(Buffer.concat(last.parts()).equals(kept)).toBe(true);
      expect(last.dropped).toBe(all.length - kept.length);
    }),
    { numRuns: 1_000 },
  );
});
