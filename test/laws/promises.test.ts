/** The table of promises is true: every promise is in it, and every test it names is there, under its number. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const PROMISED = [
  ...[1, 2, 3, ...range(9, 12), 15, 16, 17, 19, 22, 23, ...range(25, 28)].map((n) => `row ${n}`),
  ...[1, 2, ...range(5, 8), 10, 11, 12, 13, 15, ...range(18, 20)].map((n) => `F${n}`),
  ...[1, 2, 3, 5, 6, 12, 13, 16, 17, 19, 20].map((n) => `A${n}`),
];

interface Row {
  id: string;
  tests: { file: string; names: string[] }[];
}

const rows: Row[] = text("docs/promises.md")
  .split("\n")
  .flatMap((line) => {
    const [, id = "", , tests = ""] = line.split("|").map((cell) => cell.trim());
    return /^(row \d+|[FA]\d+)$/.test(id) ? [{ id, tests: testsIn(tests) }] : [];
  });

/** `file` "part of a name", "part of another"; `file` … */
function testsIn(cell: string): Row["tests"] {
  return cell.split(";").map((one) => ({
    file: /`([^`]+)`/.exec(one)?.[1] ?? "",
    names: [...one.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? ""),
  }));
}

describe("the table of promises", () => {
  it("has each promise once", () => {
    expect(rows.map(({ id }) => id).toSorted()).toEqual(PROMISED.toSorted());
  });

  it.each(rows)("names tests of $id that exist", ({ tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const { file, names } of tests) {
      const source = text(file);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect([file, name, source.includes(name)]).toEqual([file, name, true]);
    }
  });

  it.each(rows)("names at least one test with the number of $id in its name", ({ id, tests }) => {
    const number = new RegExp(`\\((?:[^)]*, )?(?:rows [\\d, ]*)?${id.replace("row ", "(?:row )?")}[,)]`);
    expect(tests.some(({ names }) => names.some((name) => number.test(name)))).toBe(true);
  });
});
