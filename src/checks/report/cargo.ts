/** `cargo test`: every test by name below the program it is in, and what failing ones printed. */
import type { RawTest, TestStatus } from "./report.ts";

const PROGRAM = /^\s+(?:Running (?:unittests )?(?<file>\S+) \((?<path>\S+)\)|Doc-tests (?<doc>\S+))$/;
const TEST = /^test (?<name>.+?)(?: - should panic)? \.\.\. (?<status>ok|FAILED|ignored\b.*)$/;
const SUM = /^test result: \S+ (?<passed>\d+) passed; (?<failed>\d+) failed; (?<ignored>\d+) ignored/;
const SAID = /^---- (?<name>.+?) stdout ----$/;
/** `(lib test)`, `(bin "demo" test)`, `(test "api")`: only the last is a program of another name than the crate's. */
const NOT_BUILT = /^error: could not compile `(?<crate>[^`]+)` \((?:test "(?<test>[^"]+)"|[^)]* test)\)/;
const MAX_SAID_LINES = 40;
const CRATE = "crate ";

/** Of one that could not be compiled nobody knows whether its tests would have been run: linters compile tests too. */
export const isCrate = (id: string): boolean => id.startsWith(CRATE);
/** As it stands in the ids of its tests. */
export const crateName = (id: string): string => (isCrate(id) ? id.slice(CRATE.length) : id);

const statusOf = (word: string): TestStatus => (word === "ok" ? "pass" : word === "FAILED" ? "fail" : "skip");

/** undefined unless the names add up to what cargo says it ran, or it says that it could not build them. */
export function readCargo(lines: readonly string[]): RawTest[] | undefined {
  const tests: RawTest[] = [];
  const units: RawTest[] = [];
  let program: Pick<RawTest, "file" | "names"> = { names: [] };
  let wanted = 0;
  let sums = 0;
  let ofProgram = new Map<string, RawTest>();
  for (const [at, line] of lines.entries()) {
    const { file, path, doc } = PROGRAM.exec(line)?.groups ?? {};
    if (file !== undefined || doc !== undefined) {
      program = { file, names: [doc ?? nameOf(path ?? "")] };
      ofProgram = new Map();
      continue;
    }
    const { name, status } = TEST.exec(line)?.groups ?? {};
    if (name !== undefined && status !== undefined) {
      // Examples in comments are named by their line, which moves.
      const test = {
        ...program,
        names: [...program.names, name.replace(/ \(line \d+\)/, "")],
        status: statusOf(status),
      };
      tests.push(test);
      ofProgram.set(name, test);
      continue;
    }
    const told = SAID.exec(line)?.groups?.["name"];
    const failed = told === undefined ? undefined : ofProgram.get(told);
    if (failed !== undefined) failed.said = saidBelow(lines, at);
    const sum = SUM.exec(line)?.groups;
    if (sum === undefined) continue;
    sums += 1;
    const total = Number(sum["passed"]) + Number(sum["failed"]) + Number(sum["ignored"]);
    wanted += total;
    // A file of tests alone is there to have some.
    if (total === 0 && program.file?.startsWith("tests/") === false)
      units.push({ names: program.names.map((name) => CRATE + name), status: "skip", broken: true });
  }
  units.push(...notBuilt(lines));
  const isTold = sums > 0 || units.length > 0;
  return isTold && tests.length === wanted ? [...tests, ...units] : undefined;
}

function notBuilt(lines: readonly string[]): RawTest[] {
  const names = lines.flatMap((line) => {
    const { crate, test } = NOT_BUILT.exec(line)?.groups ?? {};
    return crate === undefined ? [] : [test ?? crate.replaceAll("-", "_")];
  });
  return [...new Set(names)].map((name) => ({
    names: [CRATE + name],
    status: "fail",
    broken: true,
    said: "could not compile",
  }));
}

/** `target/debug/deps/demo-8348ca7a80742723` is demo. */
const nameOf = (path: string): string => (path.split("/").at(-1) ?? "").replace(/-[0-9a-f]{8,}$/, "");

function saidBelow(lines: readonly string[], at: number): string {
  const below = lines.slice(at + 1, at + 1 + MAX_SAID_LINES);
  const end = below.findIndex((line) => SAID.test(line) || line === "failures:" || line.startsWith("stack backtrace:"));
  return (end === -1 ? below : below.slice(0, end)).filter((line) => !line.startsWith("note: ")).join("\n");
}
