/** `go test -v` and `go test -json`. A test belongs to its package, which the text names only below it. */
import type { RawTest, TestStatus } from "./report.ts";

const STATUS: Readonly<Record<string, TestStatus>> = {
  PASS: "pass",
  FAIL: "fail",
  SKIP: "skip",
  pass: "pass",
  fail: "fail",
  skip: "skip",
};
const RUN = /^=== (?<what>RUN|CONT|PAUSE|NAME)\s+(?<name>\S+)$/;
const END = /^\s*--- (?<status>PASS|FAIL|SKIP): (?<name>\S+)(?: \([\d.]+s\))?$/;
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
  for (const line of lines) {
    const run = RUN.exec(line)?.groups;
    const end = END.exec(line)?.groups;
    const pack = PACKAGE.exec(line)?.groups;
    if (run?.["name"] !== undefined) {
      begun = true;
      const name = run["name"];
      current = open.get(name) ?? { status: undefined, said: [] };
      open.set(name, current);
    } else if (end?.["name"] !== undefined) {
      const ended = open.get(end["name"]) ?? { status: undefined, said: [] };
      ended.status = STATUS[end["status"] ?? ""];
      open.set(end["name"], ended);
      current = ended;
    } else if (pack?.["name"] !== undefined) {
      tests.push(...testsOf(pack["name"], open, pack));
      open = new Map();
      current = undefined;
    } else if (current !== undefined && current.said.length < MAX_SAID_LINES) current.said.push(line);
  }
  return begun ? tests : undefined;
}

function testsOf(
  pack: string,
  open: ReadonlyMap<string, Running>,
  { is, rest = "" }: Record<string, string | undefined>,
): RawTest[] {
  const tests = [...open].map(([name, { status, said }]): RawTest => {
    // It began and never ended: a panic, an exit, a time limit.
    const came = status ?? "fail";
    return { names: [pack, name], status: came, ...(came === "fail" ? { said: said.join("\n") } : {}) };
  });
  const isBroken = is === "FAIL" && !tests.some(({ status }) => status === "fail");
  return isBroken
    ? [...tests, { names: [pack], status: "fail", broken: true, said: rest.replace(/[\d.]+s$/, "") }]
    : tests;
}

export function readGoJson(lines: readonly string[]): RawTest[] | undefined {
  const tests = new Map<string, RawTest & { said: string }>();
  const broken: RawTest[] = [];
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const event = parsed(line);
    const { Action: action, Package: pack, Test: test, Output: said } = event ?? {};
    if (typeof pack !== "string" || typeof action !== "string") continue;
    const status = STATUS[action];
    if (typeof test !== "string") {
      const failing = [...tests.values()].some((one) => one.names[0] === pack && one.status === "fail");
      if (status === "fail" && !failing) broken.push({ names: [pack], status, broken: true });
      continue;
    }
    const key = `${pack} ${test}`;
    // Until it ends it has failed.
    const known = tests.get(key) ?? { names: [pack, test], status: "fail" as const, said: "" };
    const isNoise = typeof said !== "string" || RUN.test(said.trim()) || END.test(said.trimEnd());
    tests.set(key, {
      ...known,
      status: status ?? known.status,
      said: isNoise || known.said.length > 8_000 ? known.said : known.said + said,
    });
  }
  return tests.size === 0 && broken.length === 0 ? undefined : [...tests.values(), ...broken];
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
