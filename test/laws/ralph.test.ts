/** The tables for people who come from other loops: none of their rows is missing, and every test that is named exists. */
import { describe, expect, it } from "vitest";
import { missingTests, proofRows } from "../support/proof-table.ts";

const rows = proofRows("docs/ralph.md");
/** How many rows each table of theirs has. */
const SECTIONS = {
  "What the SDK loop does": 8,
  "Flags and commands of open-ralph-wiggum": 21,
  "What open-ralph-wiggum does besides": 16,
  "What users of open-ralph-wiggum added": 8,
  "What continuous-claude does": 18,
  "Of continuous-claude": 8,
  "Of the SDK loop": 7,
  "Of open-ralph-wiggum": 10,
  "Of others": 3,
};

describe("the tables of other loops", () => {
  it("have all their rows", () => {
    const counted = Object.fromEntries(
      Object.keys(SECTIONS).map((name) => [name, rows.filter(({ section }) => section === name).length]),
    );
    expect(counted).toEqual(SECTIONS);
    expect(rows).toHaveLength(Object.values(SECTIONS).reduce((sum, n) => sum + n, 0));
    expect(new Set(rows.map(({ section, id }) => `${section}: ${id}`)).size).toBe(rows.length);
  });

  it.each(rows)("name tests of $section, $id, that exist", (row) => {
    expect(missingTests(row)).toEqual([]);
  });

  it.each(rows)("name a test through the command line for $section, $id", ({ tests }) => {
    expect(tests.some(({ file }) => /^test\/e2e\/|library\.test/.test(file))).toBe(true);
  });
});
