/** Checks of the simulated world that say what a test wants them to, tree by tree and call by call. */
import type { Evidence, Failure, Verdict } from "../../src/events.ts";
import type { JudgeAbout } from "../../src/ports.ts";
import type { CheckSpec, RunSpec, VerdictSpec } from "../../src/spec.ts";
import { makeSpec, type portsOf, type World } from "./world.ts";

export interface Asked {
  check: string;
  lines: readonly string[];
  /** How often this check was asked about this tree before. */
  calls: number;
  about: JudgeAbout;
}

/** Names of tests that fail, known from a report; true and false are an exit code and no more. */
export type Says = boolean | "unverifiable" | readonly string[] | Partial<Evidence> | Red;

/** With evidence of its own. */
interface Red {
  fails: readonly string[];
  evidence: Partial<Evidence>;
}

/** As the settings have it without any of a person's, but for passes, which only cost runs where nothing is flaky. */
export const USUAL: VerdictSpec = {
  combine: "veto",
  threshold: 0.7,
  preExisting: "ask",
  reruns: 2,
  passes: 1,
  control: "auto",
  quarantine: [],
};

const TESTS = "**/*.test.ts";

export function judgedSpec(verdicts: Partial<VerdictSpec> = {}, over: Partial<RunSpec> = {}): RunSpec {
  const plain = makeSpec(over);
  return { ...plain, protect: { ...plain.protect, tests: [TESTS] }, verdicts: { ...USUAL, ...verdicts } };
}

const shape = { command: "true", required: true, timeoutMs: 1_000 };
export const aCheck = (name: string, over: Partial<CheckSpec> = {}): CheckSpec =>
  ({ ...shape, name, kind: "command", ...over }) as CheckSpec;
export const aJudge = (name: string, over: Partial<CheckSpec> = {}): CheckSpec =>
  ({ ...shape, name, kind: "judge", rubric: "good", passScore: 0.7, ...over }) as CheckSpec;

const NO_IDS = "0".repeat(64);

export function verdictFrom(tree: string, says: Says): Verdict {
  const evidence: Evidence = {
    tree,
    command: "true",
    exitCode: 0,
    signal: null,
    durationMs: 1,
    log: null,
    logBytes: 0,
    isolation: "sim",
    suspicions: [],
  };
  if (says === "unverifiable") return { is: "unverifiable", reason: "the judge was away" };
  if (says === true) return { is: "pass", evidence };
  if (says === false) return red(evidence, [{ fingerprint: "exit 1", message: "red" }]);
  if (isRed(says)) return red({ ...evidence, ...says.evidence }, says.fails.map(failed));
  if (!isList(says)) return { is: "pass", evidence: { ...evidence, ...says } };
  const tests = { ids: NO_IDS, passed: 5 - says.length, failed: says.length, skipped: 0 };
  const reported = { ...evidence, tests, alone: true as const };
  return says.length === 0 ? { is: "pass", evidence: reported } : red(reported, says.map(failed));
}

const failed = (test: string): Failure => ({ fingerprint: test, message: `${test} failed` });

function red(evidence: Evidence, [first, ...rest]: readonly Failure[]): Verdict {
  if (first === undefined) throw new Error("nothing failed");
  const excerpt = [first, ...rest].map(({ message }) => message).join("\n");
  return { is: "fail", evidence: { ...evidence, exitCode: 1 }, failures: [first, ...rest], excerpt };
}

const isRed = (says: Says): says is Red => typeof says === "object" && "fails" in says;
const isList = (says: Says): says is readonly string[] => Array.isArray(says);

/** For `live`: every check says what `say` does; `asked` is filled in the order of calls. */
export function judgedBy(
  world: World,
  { checks }: RunSpec,
  say: (asked: Asked) => Says | Promise<Says>,
  asked: Asked[] = [],
): (ports: ReturnType<typeof portsOf>) => void {
  const calls = new Map<string, number>();
  return (ports) => {
    ports.checks = checks.map(({ name, required }) => ({
      name,
      required,
      cost: "slow" as const,
      judge: async ({ tree }, _signal, about) => {
        const key = `${tree} ${name}`;
        const one = { check: name, lines: world.trees.get(tree) ?? [], calls: calls.get(key) ?? 0, about };
        calls.set(key, one.calls + 1);
        asked.push(one);
        return verdictFrom(tree, await say(one));
      },
    }));
  };
}
