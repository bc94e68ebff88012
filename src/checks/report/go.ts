/** `go test -v` and `go test -json`. A test belongs to its package, which the text names only below it. */
import type { RawTest, TestStatus } from "./report.ts";
import { lookUp } from "../../platform/look-up.ts";

const STATUS: Readonly<Record<string, TestStatus>> = {
  PASS: "pass",
  FAIL: "fail",
  SKIP: "skip",
  pass: "pass",
  fail: "fail",
  skip: "skip",
};
/** Both may stand behind what the product printed without ending its line. */
const RUN = /(?:^|[^=])=== (?<what>RUN|CONT|PAUSE|NAME)\s+(?<name>\S+)$/;
const END = /^\s*--- (?<status>PASS|FAIL|SKIP): (?<name>\S+)(?: \([\d.]+s\))?$/;
const LATE_END = /--- (?<status>PASS|FAIL|SKIP): (?<name>\S+) \([\d.]+s\)$/;
/** What the tests' program says last when it came to its end; one that was left early does not. */
const WHOLE = /PASS$/;
const NOT_BUILT = /\[(?:build|setup) failed\]/;
const NO_TESTS = /\[no test files\]/;
const PACKAGE = /^(?<is>ok|FAIL|\?)\s*\t(?<name>\S+)(?:\s+(?<rest>.*))?$/;
const MAX_SAID_LINES = 40;

interface Running {
  status: TestStatus | undefined;
  said: string[];
}

/** undefined without a package's end and a test's beginning: then nothing tells which tests there are. */
export function readGoText(lines: readonly string[]): RawTest[] | undefined {
  const tests: RawTest[] = [];
  let open = new Map<string, Running>();
  let current: Running | undefined;
  let begun = false;
  let whole = false;
  for (const line of lines) {
    const run = RUN.exec(line)?.groups;
    const end = (END.exec(line) ?? LATE_END.exec(line))?.groups;
    const pack = PACKAGE.exec(line)?.groups;
    if (run?.["name"] !== undefined) {
      begun = true;
      whole = false;
      const name = run["name"];
      current = open.get(name) ?? { status: undefined, said: [] };
      open.set(name, current);
    } else if (end?.["name"] !== undefined) {
      const ended = open.get(end["name"]) ?? { status: undefined, said: [] };
      ended.status = lookUp(STATUS, end["status"] ?? "");
      open.set(end["name"], ended);
      current = ended;
    } else if (pack?.["name"] !== undefined) {
      tests.push(...testsOf(pack["name"], open, { ...pack, isWhole: whole && pack["is"] === "ok" }));
      begun ||= pack["is"] === "FAIL" && NOT_BUILT.test(pack["rest"] ?? "");
      whole = false;
      open = new Map();
      current = undefined;
    } else {
      whole ||= WHOLE.test(line);
      if (current !== undefined && current.said.length < MAX_SAID_LINES) current.said.push(line);
    }
  }
  return begun ? tests : undefined;
}

function testsOf(
  pack: string,
  open: ReadonlyMap<string, Running>,
  { is, rest = "", isWhole }: { is?: string; rest?: string; isWhole: boolean },
): RawTest[] {
  if (NO_TESTS.test(rest)) return [{ names: [pack], status: "skip", broken: true }];
  const tests = [...open].map(([name, { status, said }]): RawTest => {
    // It began and never ended: a panic, an exit, a time limit; unless all of them did, and only its line was lost.
    const came = status ?? (isWhole ? "pass" : "fail");
    return { names: [pack, name], status: came, inner: "/", ...(came === "fail" ? { said: said.join("\n") } : {}) };
  });
  const isBroken = is === "FAIL" && !tests.some(({ status }) => status === "fail");
  return isBroken
    ? [...tests, { names: [pack], status: "fail", broken: true, said: rest.replace(/[\d.]+s$/, "") }]
    : tests;
}

export function readGoJson(lines: readonly string[]): RawTest[] | undefined {
  const tests = new Map<string, RawTest & { said: string }>();
  const packages: RawTest[] = [];
  const whole = new Set<string>();
  const ended = new Set<string>();
  const marked = new Set<string>();
  const left = new Set<string>();
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const event = parsed(line);
    const { Action: action, Package: pack, Test: test, Output: said } = event ?? {};
    if (typeof pack !== "string" || typeof action !== "string") continue;
    const status = lookUp(STATUS, action);
    if (typeof test !== "string") {
      const failing = [...tests.values()].some((one) => one.names[0] === pack && one.status === "fail");
      if (status === "fail" && !failing) packages.push({ names: [pack], status, broken: true });
      if (status === "skip") packages.push({ names: [pack], status, broken: true });
      if (typeof said === "string" && WHOLE.test(said.trimEnd())) whole.add(pack);
      if (status === "pass" && whole.has(pack)) {
        for (const [key, one] of tests) {
          if (one.names[0] === pack && !ended.has(key)) tests.set(key, { ...one, status: "pass" });
        }
      }
      continue;
    }
    const key = `${pack} ${test}`;
    if (status !== undefined) ended.add(key);
    const text = typeof said === "string" ? said.trimEnd() : "";
    const mark = LATE_END.exec(text)?.groups?.["name"];
    if (mark !== undefined) marked.add(`${pack} ${mark}`);
    else if (WHOLE.test(text)) whole.add(pack);
    if (text.startsWith("ok  \t")) left.add(key);
    // Until it ends it has failed.
    const known = tests.get(key) ?? { names: [pack, test], status: "fail" as const, said: "", inner: "/" as const };
    const isNoise = typeof said !== "string" || RUN.test(said.trim()) || END.test(said.trimEnd());
    tests.set(key, {
      ...known,
      status: status ?? known.status,
      said: isNoise || known.said.length > 8_000 ? known.said : known.said + said,
    });
  }
  // The program ended inside it, with a good exit code: older versions of go then say that it passed.
  for (const key of left) {
    const one = tests.get(key);
    if (one?.status === "pass" && !marked.has(key) && !whole.has(one.names[0] ?? ""))
      tests.set(key, { ...one, status: "fail" });
  }
  const isTold = tests.size > 0 || packages.some(({ status }) => status === "fail");
  return isTold ? [...tests.values(), ...packages] : undefined;
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
