/** What node:test (spec) and mocha (spec) print: a tree by indentation, with a sum below that it has to add up to. */
import { indentOf, withoutDuration } from "./lines.ts";
import type { RawTest, TestStatus } from "./report.ts";

type Found = RawTest & { indent: number };

const NODE_LINE = /^(?<mark>[✔✖﹣▶])\s+(?<name>\S.*)$/;
const NODE_STATUS: Readonly<Record<string, TestStatus>> = { "✔": "pass", "✖": "fail", "﹣": "skip" };

/** undefined unless the sum below says that this is all. */
export function readNodeSpec(lines: readonly string[]): RawTest[] | undefined {
  const end = lines.findIndex((line) => /^ℹ tests \d+$/.test(line));
  if (end === -1) return undefined;
  const sum = (word: string): number =>
    Number(lines.map((line) => new RegExp(`^ℹ ${word} (\\d+)$`).exec(line)?.[1]).find((n) => n !== undefined) ?? 0);
  const tests: RawTest[] = [];
  const above: string[] = [];
  let parents = 0;
  for (const line of lines.slice(0, end)) {
    const { mark, name: said } = NODE_LINE.exec(line.trim())?.groups ?? {};
    const indent = indentOf(line);
    if (mark === undefined || said === undefined || indent % 2 !== 0) continue;
    const depth = indent / 2;
    const [words = "", directive = ""] = said.split(/ # (?=SKIP|TODO)/);
    const name = withoutDuration(words);
    if (mark === "▶") {
      above.length = Math.min(above.length, depth);
      above[depth] = name;
      parents += 1;
      continue;
    }
    // The end of what ▶ began.
    if (above[depth] === name) {
      above.length = depth;
      continue;
    }
    const status = directive === "" ? (NODE_STATUS[mark] ?? "skip") : "skip";
    tests.push({ names: [...above.slice(0, depth), name], status });
  }
  const total = sum("tests");
  return tests.length <= total && total <= tests.length + parents ? withDetails(tests, lines.slice(end)) : undefined;
}

/** Below the sum every failing test stands again, with what it said. */
function withDetails(tests: readonly RawTest[], lines: readonly string[]): RawTest[] {
  const said = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith("✖ ")) continue;
    const below = lines.slice(at + 1);
    const end = below.findIndex((one) => one !== "" && indentOf(one) === 0);
    said.set(withoutDuration(line.slice(2)), below.slice(0, end === -1 ? MAX_SAID_LINES : end).join("\n"));
  }
  return tests.map((test) => (test.status === "fail" ? { ...test, said: said.get(test.names.at(-1) ?? "") } : test));
}

const MAX_SAID_LINES = 60;

const MOCHA_SUM = /^\s{2}(?<n>\d+) (?<what>passing|failing|pending)\b/;
const MOCHA_LINE = /^(?:(?<pass>[✓✔√])|(?<fail>\d+\))|(?<skip>-)) (?<name>\S.*)$/;

export function readMochaSpec(lines: readonly string[]): RawTest[] | undefined {
  const end = lines.findIndex((line) => MOCHA_SUM.test(line));
  if (end === -1) return undefined;
  const sums = lines.slice(end).flatMap((line) => {
    const { n, what } = MOCHA_SUM.exec(line)?.groups ?? {};
    return n === undefined || what === undefined ? [] : [[what, Number(n)] as const];
  });
  const wanted = sums.slice(0, 3).reduce((total, [, n]) => total + n, 0);
  const tests: Found[] = [];
  const above: { indent: number; name: string }[] = [];
  for (const line of lines.slice(0, end)) {
    if (line.trim() === "") continue;
    const indent = indentOf(line);
    while ((above.at(-1)?.indent ?? -1) >= indent) above.pop();
    const { pass, fail, name } = MOCHA_LINE.exec(line.trim())?.groups ?? {};
    if (name === undefined) {
      if (indent >= 2 && indent % 2 === 0) above.push({ indent, name: line.trim() });
      continue;
    }
    const status = pass === undefined ? (fail === undefined ? "skip" : "fail") : "pass";
    const parents = above.filter((one) => one.indent < indent).map((one) => one.name);
    tests.push({ names: [...parents, withoutDuration(name)], status, indent });
  }
  if (tests.length !== wanted) return undefined;
  return withMochaDetails(tests, lines.slice(end));
}

/** `  1) suite`, its names each on a line of their own down to one with a colon, then what it said. */
function withMochaDetails(tests: readonly Found[], lines: readonly string[]): RawTest[] {
  const starts = lines.flatMap((line, at) => (/^\s{2}\d+\) /.test(line) ? [at] : []));
  const said = starts.map((start, n) => {
    const block = lines.slice(start, Math.min(starts[n + 1] ?? lines.length, start + MAX_SAID_LINES));
    const head = block.findIndex((line) => line.endsWith(":"));
    return block.slice(head + 1).join("\n");
  });
  let failed = 0;
  return tests.map(({ names, status }) => {
    if (status !== "fail") return { names, status };
    // A hook that failed is none of the tests.
    const isHook = /^"(?:before|after) (?:all|each)" hook/.test(names.at(-1) ?? "");
    return { names, status, said: said[failed++], ...(isHook ? { broken: true } : {}) };
  });
}
