import { array, assert, integer, property, string } from "fast-check";
import { expect, it } from "vitest";
import { endOf, plain, tailOf } from "./tail.ts";

it("keeps exactly the last bytes, however they arrive", () => {
  const chunks = array(string({ unit: "grapheme-ascii", maxLength: 40 }), { maxLength: 20 });
  assert(
    property(chunks, integer({ min: 1, max: 30 }), (pieces, max) => {
      const tail = tailOf(max);
      for (const piece of pieces) tail.write(Buffer.from(piece));
      expect(tail.text()).toBe(pieces.join("").slice(-max));
    }),
  );
});

it("does not begin inside a character, and tolerates bytes that are none", () => {
  const tail = tailOf(5);
  for (const byte of Buffer.from("€€€")) tail.write(Buffer.from([byte]));
  expect(tail.text()).toBe("€");
  tail.write(Buffer.from([0xff, 0x80, 0x80, 0x80, 0x80, 0x80]));
  expect(tail.text()).toBe("\uFFFD\uFFFD");
});

it("makes text plain: no colours, links, cursor movements, NULs or bells", () => {
  const text =
    "\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007 a\u0000b\u0007c\r\nnext\ttab\u009b1mé";
  expect(plain(text)).toBe("red link abc\nnext\ttabé");
});

it("cuts to bytes from the start of a line, never inside a character", () => {
  expect(endOf("short\n", 100)).toBe("short");
  expect(endOf("first line\nsecond line\nthird", 18)).toBe("second line\nthird".slice(-17));
  expect(endOf("first line\nsecond line\nthird", 10)).toBe("third");
  expect(Buffer.byteLength(endOf("€".repeat(100), 50))).toBeLessThanOrEqual(50);
  expect(endOf("€".repeat(100), 50)).toBe("€".repeat(16));
});
