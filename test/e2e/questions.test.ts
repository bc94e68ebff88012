/** Questions that wait for a person, asked by an agent in a driver of its own and answered from the command line. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { liveRun, type LiveRun } from "../support/live-run.ts";
import { CACHE_HOME, COMPILED, tempDir, waitFor } from "../support/temp.ts";
import { makeSpec } from "../support/world.ts";

const DRIVER = join(CACHE_HOME, "test/asking.js");
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

interface Asks {
  kind: "permission" | "question";
  text: string;
  options?: string[];
}
interface Driven {
  live: LiveRun;
  kill(): Promise<void>;
  again(): Driver;
  driver: Driver;
}
interface Driver {
  pid: number;
  /** What it printed, once it ended. */
  done: Promise<string[]>;
}

async function driven(place: CliPlace, asks: Asks[], timeoutMs = 600_000): Promise<Driven> {
  const { repository, env } = place;
  const base = makeSpec({ run: "r-20260101-asking", environment: { PATH: env["PATH"] ?? "" } });
  const spec = {
    ...base,
    workspace: { ...base.workspace, repository: repository.path, path: repository.path, branch: "pawl/asking" },
    agent: { ...base.agent, name: "scripted", ask: { permissions: "ask", questions: "ask", timeoutMs } },
    checks: [{ name: "good", kind: "command", command: "test -e good", required: true, timeoutMs: 60_000 }],
  };
  const commit = repository.git("rev-parse", "HEAD");
  const tree = repository.git("rev-parse", "HEAD^{tree}");
  const file = join(tempDir("asking"), "run.json");
  writeFileSync(file, JSON.stringify({ spec, base: { commit, tree, branch: "main", detached: false }, asks }));
  const again = (): Driver => {
    const child = spawn(process.execPath, [DRIVER, file], {
      cwd: repository.path,
      env: { ...env, NODE_COMPILE_CACHE: COMPILED },
    });
    children.push(child);
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (out += text));
    return { pid: child.pid ?? 0, done: once(child, "close").then(() => out.trim().split("\n")) };
  };
  const driver = again();
  const live = await liveRun({ state: place.state, env });
  const kill = async (): Promise<void> => {
    process.kill(driver.pid, "SIGKILL");
    await driver.done;
  };
  return { live, kill, again, driver };
}

describe("a question of the agent", () => {
  it("is shown by status with its command, answered by `pawl answer`, and refused afterwards (row 21)", async () => {
    const place = await cliPlace({});
    const { live, driver } = await driven(place, [
      { kind: "permission", text: "use Bash: rm -rf build" },
      { kind: "question", text: "which schema?", options: ["first", "second"] },
    ]);
    const asked = await live.nth("human-requested");
    expect(asked).toMatchObject({ question: "q1", kind: "permission", turn: 1 });
    const status = await place.pawl("status");
    expect(status.stdout).toContain("waiting for a person (q1)");
    expect(status.stdout).toContain("q1: the agent asks for a permission: use Bash: rm -rf build");
    expect(status.stdout).toMatch(
      /pawl answer r-20260101-asking q1 allow \| deny \[WHY\] {3}\(\d+ min \d\d s left, then it is denied\)/,
    );
    expect((await place.pawl("runs")).stdout).toContain("turn, waits for you: q1  ");
    expect(JSON.parse((await place.pawl("runs", "--json")).stdout)).toMatchObject({ questions: ["q1"] });
    const wrong = await place.pawl("answer", "q1", "perhaps");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("neither allow nor deny")]);

    const told = await place.pawl("answer", live.run, "q1", "deny", "not", "here", "--wait", "--json");
    expect(JSON.parse(told.stdout)).toMatchObject({ receipt: "delivered", how: "given to the agent in turn 1" });
    await live.nth("human-requested", 2);
    const listed = JSON.parse((await place.pawl("answer", "--json")).stdout) as { questions: object[] };
    expect(listed.questions).toMatchObject([{ question: "q2", options: ["first", "second"], turn: 1 }]);
    expect((await place.pawl("answer", live.run)).stdout).toContain("  2  second\n");

    const closed = await place.pawl("answer", "q1", "allow");
    expect([closed.code, closed.stderr]).toEqual([
      2,
      expect.stringMatching(/^pawl: q1 is closed: it has been answered\n.*open: q2/),
    ]);
    const unknown = await place.pawl("answer", "q7", "allow");
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("has no question q7")]);
    const none = await place.pawl("answer", "q2", "3");
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringMatching(/q2 has no option 3\n.*1 first, 2 second; or words of your own/),
    ]);
    expect((await place.pawl("answer", "q2", "2")).code).toBe(0);
    expect(await driver.done).toEqual([
      '{"is":"deny","reason":"not here"}',
      '{"is":"text","text":"second"}',
      "verified",
    ]);
    expect((await live.of("human-answered")).map(({ question, by }) => `${question} ${by}`)).toEqual([
      "q1 person",
      "q2 person",
    ]);
    const late = await place.pawl("answer", "q2", "1");
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("has ended")]);
  });

  it("is denied when nobody answers in time", async () => {
    const place = await cliPlace({});
    const { live, driver } = await driven(place, [{ kind: "permission", text: "use Bash" }], 300);
    const [reply, outcome] = await driver.done;
    expect(JSON.parse(reply ?? "")).toMatchObject({ is: "deny", reason: expect.stringContaining("nobody answered") });
    expect(outcome).toBe("verified");
    expect(await live.of("human-answered")).toMatchObject([{ by: "timeout" }]);
  });

  it("is closed when its driver is killed; the next driver's turn asks anew", async () => {
    const place = await cliPlace({});
    const { live, kill, again } = await driven(place, [{ kind: "permission", text: "use Bash" }]);
    await live.nth("human-requested");
    await kill();
    const refused = await place.pawl("answer", "q1", "allow");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("its turn ended with its driver")]);
    // What cannot be answered is not asked for either.
    expect((await place.pawl("status")).stdout).not.toContain("pawl answer");
    expect(await place.pawl("answer")).toMatchObject({ code: 0, stdout: "" });
    expect((await place.pawl("answer", "q1")).code).toBe(2);
    const second = again();
    await live.nth("human-requested", 2);
    expect((await place.pawl("answer", "q2", "yes")).code).toBe(0);
    expect(await second.done).toEqual(['{"is":"allow"}', "verified"]);
    expect((await live.of("human-answered")).map(({ question, by }) => `${question} ${by}`)).toEqual([
      "q1 turn-ended",
      "q2 person",
    ]);
  });
});

/** The real Claude Code, which never changes anything before it is told what. */
const STUCK = byIteration({
  1: [{ text: "I do not know." }],
  2: [{ text: "I still do not know." }],
  3: [bash("echo right > work.txt"), { text: CLAIM }],
});
const STUCK_ENV = { PAWL_PATIENCE: "1", PAWL_LADDER: "ask,stop", PAWL_QUESTIONS: "ask" };
const RUN = ["run", "write work.txt", "--check", "grep -q right work.txt"];

describe("a run that is stuck", () => {
  it("asks, waits, and takes a person's words into the next prompt, once", async () => {
    const place = await cliPlace({ script: STUCK, env: STUCK_ENV });
    const running = place.start(RUN);
    const live = await liveRun({ state: place.state, env: place.env });
    expect(await live.nth("human-requested")).toMatchObject({ question: "q1", kind: "ladder", turn: null });
    expect((await place.pawl("status")).stdout).toMatch(/^state +waiting for a person: q1$/m);
    const hint = `pawl answer ${live.run} q1 "go on" | stop | TEXT for the agent`;
    await waitFor(() => running.stderr().includes(hint), { what: hint, seen: running.stderr });
    expect((await place.pawl("answer", "q1", "mind the quokka")).code).toBe(0);
    expect((await running.done).code).toBe(0);
    const conversation = (place.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);
    expect(conversation.filter(({ lastUserText }) => lastUserText.includes("quokka"))).toHaveLength(1);
    expect(await live.of("turn-start")).toHaveLength(3);
    expect((await live.of("directive-delivered")).map(({ how }) => how)).toEqual(["in the prompt of turn 3"]);
  });

  it("ended by a signal while it waits exits 4, still waits when driven again, and `resume` goes on", async () => {
    const place = await cliPlace({ script: STUCK, env: STUCK_ENV });
    const running = place.start(RUN);
    const live = await liveRun({ state: place.state, env: place.env });
    await live.nth("human-requested");
    running.child.kill("SIGTERM");
    const ended = await running.done;
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain(`pawl answer ${live.run} q1 "go on"`);
    const resumed = await place.pawl("resume");
    expect([resumed.code, resumed.stdout]).toEqual([0, "verified pawl/write-work-txt\n"]);
    expect(await live.of("human-requested")).toHaveLength(1);
    expect(await live.of("human-answered")).toMatchObject([{ question: "q1", text: "go on", by: "person" }]);
  });

  it("ends needs-human when nobody answers in time, and at once where nobody is asked", async () => {
    const timed = await cliPlace({ script: STUCK, env: { ...STUCK_ENV, PAWL_ANSWER_TIMEOUT: "200ms" } });
    const late = await timed.pawl(...RUN, "--json");
    expect(late.of("human-answered").map(({ by }) => by)).toEqual(["timeout"]);
    expect([late.code, late.of("run-end")[0]?.outcome.rule]).toEqual([4, "struggle:ask"]);
    const alone = await cliPlace({ script: STUCK, env: { ...STUCK_ENV, PAWL_QUESTIONS: "deny" } });
    const denied = await alone.pawl(...RUN, "--json");
    expect([denied.code, denied.of("run-end")[0]?.outcome.is, denied.of("human-requested")]).toEqual([
      4,
      "needs-human",
      [],
    ]);
  });
});

it("a check that cannot judge is tried again when a person says so", async () => {
  const place = await cliPlace({
    script: byIteration({ 1: [bash("echo right > work.txt"), { text: CLAIM }] }),
    // Without a fence: the check looks for a file outside its tree.
    env: { PAWL_QUESTIONS: "ask", PAWL_FENCE: "none" },
  });
  const gate = join(tempDir("gate"), "open");
  const check = `test -e ${gate} || { echo 'pawl-check: judge: not found' >&2; exit 127; }`;
  const running = place.start(["run", "write work.txt", "--check", check]);
  const live = await liveRun({ state: place.state, env: place.env });
  const asked = await live.nth("human-requested");
  expect(asked).toMatchObject({ kind: "unverifiable", options: ["retry", "stop"] });
  writeFileSync(gate, "");
  expect((await place.pawl("answer", "q1", "retry", "--wait")).stdout).toBe("d1 delivered (going on)\n");
  expect((await running.done).code).toBe(0);
  expect((await live.of("check-end")).map(({ verdict }) => verdict.is)).toEqual([
    "unverifiable",
    "unverifiable",
    "unverifiable",
    "pass",
  ]);
  expect(await live.of("turn-start")).toHaveLength(1);
});
