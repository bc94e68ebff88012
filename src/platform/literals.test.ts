/** The fast search finds what the slow one finds. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findLiterals } from "./literals.ts";

test("every occurrence of every literal is found, and nothing else", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "☃"), maxLength: 60 });
  const literals = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "☃"), minLength: 2, maxLength: 6 }), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(text, literals, (text, literals) => {
      const found = new Set<string>();
      findLiterals(literals)(text, (start, end) => found.add(`${start} ${text.slice(start, end)}`));
      const expected = new Set<string>();
      for (const literal of literals) {
        for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1))
          expected.add(`${at} ${literal}`);
      }
      expect(found).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});
