/** The table of promises is true: every promise is in it, and every test it names is there, under its number. */
import { describe, expect, it } from "vitest";
import { missingTests, proofRows } from "../support/proof-table.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const PROMISED = [
  ...[...range(1, 17), 19, 22, 23, ...range(25, 28), 40, 41].map((n) => `row ${n}`),
  ...[1, 2, 3, ...range(5, 8), ...range(10, 13), 15, ...range(17, 20)].map((n) => `F${n}`),
  ...range(1, 7).map((n) => `S${n}`),
  ...range(1, 2).map((n) => `I${n}`),
  ...[...range(1, 6), ...range(11, 14), ...range(16, 20)].map((n) => `A${n}`),
];
const rows = proofRows("docs/promises.md");

describe("the table of promises", () => {
  it("has each promise once", () => {
    expect(rows.map(({ id }) => id).toSorted()).toEqual(PROMISED.toSorted());
  });

  it.each(rows)("names tests of $id that exist", (row) => {
    expect(missingTests(row)).toEqual([]);
  });

  it.each(rows)("names at least one test with the number of $id in its name", ({ id, tests }) => {
    const number = new RegExp(`\\((?:[^)]*, )?(?:rows [\\d, ]*)?${id.replace("row ", "(?:row )?")}[,)]`);
    expect(tests.some(({ names }) => names.some((name) => number.test(name)))).toBe(true);
  });
});
