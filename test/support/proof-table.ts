/** Tables in the docs that name the tests which prove their rows: read, and held against the tests there are. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

export interface ProofRow {
  /** Heading above the table. */
  section: string;
  /** First column. */
  id: string;
  /** Of the column `test`: as written, and the tests it names. */
  said: string;
  tests: { file: string; names: string[] }[];
}

/** Rows of every table with a column `test`. */
export function proofRows(path: string): ProofRow[] {
  const rows: ProofRow[] = [];
  let section = "";
  let column = -1;
  for (const line of textOf(path).split("\n")) {
    if (line.startsWith("#")) section = line.replace(/^#+ /, "");
    if (!line.startsWith("|")) {
      column = -1;
      continue;
    }
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (column === -1) column = cells.indexOf("test");
    else if (column !== -1 && !/^-+$/.test(cells[0] ?? "")) {
      const said = cells[column] ?? "";
      rows.push({ section, id: cells[0] ?? "", said, tests: testsIn(said) });
    }
  }
  return rows;
}

/** `file` "part of a name", "part of another"; `file` … */
function testsIn(cell: string): ProofRow["tests"] {
  return cell.split(";").map((one) => ({
    file: /`([^`]+)`/.exec(one)?.[1] ?? "",
    names: [...one.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? ""),
  }));
}

/** What a row names and there is not; empty when all is there. */
export function missingTests({ tests }: ProofRow): string[] {
  return tests.flatMap(({ file, names }) => {
    if (file === "" || names.length === 0) return [`no test named beside ${JSON.stringify(file)}`];
    const source = textOf(file);
    return names.filter((name) => !source.includes(name)).map((name) => `${file}: ${name}`);
  });
}
