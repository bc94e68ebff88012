/**
 * The red team: every escape of the list, tried from inside the fence. What counts is what the outside sees afterwards;
 * everything aimed at is a canary of this test.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ESCAPES } from "../support/red-team/escapes.ts";
import { MISTAKE, filesBelow } from "../support/red-team/escape.ts";
import { isSecret, openOutside, TOKEN } from "../support/red-team/outside.ts";
import { AGAINST_PAWL, AGAIN, SWAPS } from "../support/red-team/pawl.ts";
import { isRoot, playSession, SESSION_LIMIT_MS, type Session } from "../support/red-team/play.ts";
import { lastMarked, stepsSince, type StandinRequest } from "../../src/standin/request.ts";
import type { Step } from "../../src/standin/script.ts";
import { CLAIM, cliPlace } from "../support/cli.ts";
import { countOf, figure } from "../support/figure.ts";
import { taggedProcesses } from "../support/processes.ts";
import { tempDir } from "../support/temp.ts";

const ROUNDS = countOf("PAWL_TEST_RED_TEAM", 1);

const attack = (as: "root" | "user"): Session =>
  playSession({
    as,
    user: 4_321,
    program: "test/support/red-team/session.ts",
    needs: ["src/platform", "src/errors.ts", "src/events.ts", "src/spec.ts", "test/support"],
    folders: ["out"],
    // With two folders open that were not asked for: an editor or a script may start pawl so.
    shell: 'exec 7<"$0/out" 11<"$0/out"; exec "$@"',
  });

/** Every escape was tried in the fence that is meant, none got anywhere, and without it they do. */
function expectContained({ level, ways, controls = [], results }: Session, meant: string): void {
  expect(level).toContain(meant);
  expect(ways?.ahead).toBeGreaterThan(ESCAPES.length / 2);
  // The first makes the mould.
  expect(ways?.bwrap).toBeLessThan(ESCAPES.length * 1.2);
  const names = ESCAPES.map(({ name }) => name);
  expect(results.map(({ name }) => name)).toEqual([...names, ...names]);
  expect(results.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
  expect(controls.length).toBeGreaterThanOrEqual(15);
  expect(controls.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
}

describe("a fence", () => {
  it.skipIf(!isRoot)("lets none of the escapes out, opened by root", { timeout: SESSION_LIMIT_MS }, () => {
    expect(ESCAPES.length).toBeGreaterThanOrEqual(40);
    for (let round = 0; round < ROUNDS; round += 1) {
      const session = attack("root");
      expect(session.uid).toBe(0);
      expectContained(session, "own namespaces, a uid of its own, system calls filtered");
    }
    figure("red team", { as: "root", escapes: ESCAPES.length, rounds: ROUNDS });
  });

  it("lets none of the escapes out, opened by an ordinary user", { timeout: SESSION_LIMIT_MS }, () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const session = attack("user");
      expect(session.uid).not.toBe(0);
      expectContained(session, "own namespaces, your uid, system calls filtered");
    }
    figure("red team", { as: "user", escapes: ESCAPES.length, rounds: ROUNDS });
  });
});

const PER_CALL = 10;
/** Against hangs: of one, and of a call of the tool with ten of them. */
const ESCAPE_LIMIT_S = 40;
const CALL_LIMIT_MS = 240_000;
const RUN_LIMIT_MS = 500_000;

/** What the model does at its n-th answer of an iteration. */
function stepOf(request: StandinRequest, steps: Readonly<Record<string, readonly Step[]>>): Step {
  const marker = lastMarked(request, /Iteration \d+/)?.marker ?? "";
  return steps[marker]?.[stepsSince(request, `${marker} `)] ?? { text: "ok" };
}

const bash = (command: string): Step => ({
  tools: [{ name: "Bash", input: { command, description: "try", timeout: CALL_LIMIT_MS } }],
});

/** Many in one call of the tool: each in a shell of its own, which may die. Their names and words are kept. */
function calls(
  escapes: readonly { name: string; script: string }[],
  variables: Readonly<Record<string, string>>,
): Step[] {
  const words = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  const run = ({ name, script }: { name: string; script: string }): string => {
    const begun = `cat >> "$WORK/tried" <<'NAME'\n${name}\nNAME`;
    const text = [...words, begun, script, ""].join("\n");
    return `echo ${Buffer.from(text).toString("base64")} | base64 -d > /tmp/escape; timeout -k 1 ${ESCAPE_LIMIT_S} sh /tmp/escape >> said 2>&1 </dev/null`;
  };
  return Array.from({ length: Math.ceil(escapes.length / PER_CALL) }, (_, n) =>
    bash(
      `${escapes
        .slice(n * PER_CALL, (n + 1) * PER_CALL)
        .map(run)
        .join("; ")}; true`,
    ),
  );
}

it(
  "the real Claude Code gets none of them out as its tool calls, and the run goes on to its outcome (row 16)",
  { timeout: 2 * RUN_LIMIT_MS },
  async () => {
    const scene = tempDir("red-team");
    const steps: Record<string, readonly Step[]> = {};
    const place = await cliPlace({ script: (request) => stepOf(request, steps), env: { CANARY_TOKEN: TOKEN } });
    const { path } = place.repository;
    const outside = await openOutside(scene, { work: path });
    const model = new URL(place.standin?.url ?? "").port;
    const variables = { ...outside.variables, PAWL_STATE: place.state, MODEL_PORT: model };
    const [deadly = [], own = []] = [true, false].map((is) =>
      ESCAPES.filter(({ name }) => (name === "kill -9 -1") === is),
    );
    // Once: a call that had no answer is made again.
    const once = deadly.map(({ name, script }) => ({
      name,
      script: `[ -e "$WORK/died" ] && exit; touch "$WORK/died"; ${script}`,
    }));
    const work = bash("rm -rf bin swap; echo right > work.txt");
    // The last of those against pawl takes away what Claude's own tool needs: after it there are no more calls.
    steps["Iteration 1"] = [
      ...calls([...own, ...AGAINST_PAWL.slice(0, -1)], variables),
      ...calls([...SWAPS, ...AGAINST_PAWL.slice(-1)], variables),
      { text: "Hm." },
    ];
    steps["Iteration 2"] = [...calls(AGAIN, variables), ...calls(once, variables), work, { text: CLAIM }];
    const start = (args: string[]) => place.start(args, { cwd: path, limitMs: RUN_LIMIT_MS });
    const hostile = `echo bad > '${scene}/out/new'; kill -CONT ${process.pid}; ! cat '${scene}/out/secret' && `;
    const before = place.repository.git("rev-parse", "HEAD");
    const first = await start([
      "run",
      "make work.txt",
      "--check",
      `${hostile}grep -q right work.txt`,
      "--max-iterations",
      "1",
      "--json",
    ]).done;
    expect(first.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["exhausted"]);
    expect(first.of("turn-end").map(({ outcome }) => outcome.is)).toEqual(["done"]);
    const run = first.facts()[0]?.run ?? "";
    const then = await start(["resume", run, "--max-iterations", "3", "--json"]).done;
    expect(then.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(then.of("turn-end").map(({ outcome }) => outcome.is)).toEqual(["cut", "done"]);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
    const wrongs = ESCAPES.flatMap((escape) => outside.look(escape));
    expect(wrongs).toEqual([]);
    // They were really tried, each by its name; the way out was asked in every spelling, and answered no.
    const tried = readFileSync(join(path, "tried"), "utf8").trim().split("\n");
    const names = [...ESCAPES, ...AGAINST_PAWL, ...SWAPS, ...AGAIN].map(({ name }) => name);
    expect(names.filter((name) => !tried.includes(name))).toEqual([]);
    expect(MISTAKE.exec(readFileSync(join(path, "said"), "latin1"))?.[0]).toBeUndefined();
    const answered = readFileSync(join(path, "answers"), "latin1");
    expect(answered.match(/HTTP\/1\.1 403/g)?.length).toBeGreaterThan(40);
    expect(answered).not.toMatch(/HTTP\/1\.1 200/);
    // What is the user's is whole: the base, the branch, no setting or hook of the agent's.
    expect(place.repository.git("rev-parse", "main")).toBe(before);
    expect(place.repository.git("fsck", "--full", "--no-dangling")).toBe("");
    expect(place.repository.git("config", "--local", "--list")).not.toContain("canary");
    expect(existsSync(join(path, ".git/hooks/post-checkout"))).toBe(false);
    const everything = [
      place.repository.git("log", "-p", "--all", "--text"),
      first.stdout + first.stderr + then.stdout + then.stderr,
      ...place.sent(),
    ];
    expect(everything.filter((text) => isSecret(text))).toEqual([]);
    expect(filesBelow(place.state).filter((file) => isSecret(readFileSync(file)))).toEqual([]);
    expect(new Set(place.standin?.requests.map(({ path: asked }) => asked.split("?")[0]))).toEqual(
      new Set(["/v1/messages"]),
    );
    await outside.close();
  },
);
