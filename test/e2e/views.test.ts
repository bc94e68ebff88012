/** The reading commands through the built command line, on journals written for the test. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { currentOwner } from "../../src/platform/owner.ts";
import { cliPlace, GATE } from "../support/cli.ts";
import { recorded, RUN } from "../support/recorded-place.ts";
import { iterationFacts, laneReady, recordRun } from "../support/recorded-run.ts";
import { waitFor } from "../support/temp.ts";

it("looks at nothing without leaving anything behind", async () => {
  const place = await cliPlace({});
  const runs = await place.pawl("runs");
  expect([runs.code, runs.stdout, runs.stderr]).toEqual([0, "", "no runs yet\n"]);
  for (const args of [
    ["status"],
    ["status", "r-1"],
    ["logs"],
    ["show"],
    ["diff"],
    ["steer", "hi"],
    ["memory", "list"],
    ["restore", "--at", "1"],
  ]) {
    const result = await place.pawl(...args);
    expect([args, result.code, result.stdout]).toEqual([args, 2, ""]);
    expect(result.stderr.trim().split("\n")).toHaveLength(2);
  }
  await place.pawl("doctor");
  expect(existsSync(place.state)).toBe(false);
});

it("loads no schema, settings, agent or workspace code for status", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  recording.close();
  const hook = join(place.home, "hook.mjs");
  const seen = join(place.home, "loaded.txt");
  writeFileSync(
    hook,
    `import { registerHooks } from "node:module"; import { appendFileSync } from "node:fs";
     registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(seen)}, url + "\\n"); return next(url, context); } });`,
  );
  const result = await place.start(["status"], { env: { NODE_OPTIONS: `--import=${hook}` } }).done;
  expect(result.code).toBe(0);
  const urls = readFileSync(seen, "utf8")
    .split("\n")
    .filter((url) => url.startsWith("file:"));
  // What a built file is made of stands in it.
  const sources = urls.flatMap(
    (url) => readFileSync(new URL(url), "utf8").match(/^\/\/ (?:src|node_modules)\/\S+$/gm) ?? [],
  );
  expect(sources).toContain("// src/loop/fold.ts");
  const heavy = [...urls, ...sources].filter((path) =>
    /\/(zod|yaml|claude-agent-sdk|genai-prices)\/|src\/(agents|workspace|checks|config|recipes|standin)\/|src\/(events|spec)\.ts/.test(
      path,
    ),
  );
  expect(heavy).toEqual([]);
});

it("tells where a run is", async () => {
  const { place, recording } = await recorded();
  await recording.handle.inbox.put(RUN, { kind: "say", text: "mind the gap", when: "next" }, { source: "cli" });
  const text = (await place.pawl("status")).stdout;
  expect(text).toContain("make hello work");
  expect(text).toMatch(/^state +not driven: no process works on it now$/m);
  expect(text).toMatch(/^branch +pawl\/x, last commit [0-9a-f]{10}$/m);
  expect(text).toMatch(/^checks +tests: fail$/m);
  expect(text).toMatch(/^Struggle\n {2}.*failures over time +1 → 1$/ms);
  expect(text).toMatch(/^spent +~\$0\.50, 2 turns, 6 tool calls, 2,400 tokens, /m);
  expect(text).toMatch(/^limits +iterations 2 of 20 \(18 left\)$/m);
  expect(text).toMatch(/^ {2}2 +7\.0 s +Bash × 2, Write × 1 +1 file \+3 -1 +tests: fail +~\$0\.25 +continue$/m);
  expect(text).toMatch(/^ {2}d1 +queued +say next "mind the gap"$/m);
  expect(text).toContain(`pawl resume ${RUN}`);

  const open = iterationFacts(3, { prompt: "0".repeat(64), log: null, verdict: "pass" });
  await recording.add(...open.slice(0, 2));
  expect((await place.pawl("status", "r-2026")).stdout).toContain("not driven: its process died during turn 3");
  await recording.add(...open.slice(2), {
    type: "run-end",
    outcome: { is: "verified", rule: "all-required-pass", reason: "tests passed" },
  });
  const view = JSON.parse((await place.pawl("status", "--json")).stdout) as Record<string, unknown>;
  expect(view).toMatchObject({ v: 1, run: RUN, state: "ended: verified (tests passed)", iteration: 3, driver: null });
  recording.close();
});

it("tells what a driven run does", async () => {
  const place = await cliPlace({});
  const owner = currentOwner();
  const recording = await recordRun({ dir: place.state, repository: place.repository.path, run: RUN, owner });
  const state = async (): Promise<string> =>
    (JSON.parse((await place.pawl("status", "--json")).stdout) as { state: string }).state;
  expect(await state()).toBe("starting");
  await recording.add(...laneReady());
  const [begin, start, end, change, check, ...rest] = iterationFacts(1, {
    prompt: "0".repeat(64),
    log: null,
    verdict: "fail",
  });
  const facts = (...some: (typeof begin)[]) => recording.add(...some.flatMap((one) => one ?? []));
  await facts(begin, start);
  expect(await state()).toMatch(/^working, iteration 1 of 20, turn 1 running for [\d.]+ s$/);
  await facts(end, change, check);
  expect(await state()).toMatch(/^working, iteration 1 of 20, check tests running for /);
  await facts(...rest);
  await recording.add({
    type: "wait-start",
    wait: "w",
    reason: "usage limit: later",
    until: Date.now() + 1_000,
    untilElapsed: null,
  });
  expect(await state()).toMatch(/^waiting until (\d{4}-\d\d-\d\d )?\d\d:\d\d \([\d.]+ s left\): usage limit: later$/);
  await recording.add(
    { type: "wait-end", wait: "w", why: "over" },
    { type: "directive-received", id: "d1", directive: { kind: "pause" }, source: "cli", queuedAt: 0 },
  );
  expect(await state()).toBe(`paused by cli; to go on: pawl resume ${RUN}`);
  expect((await place.pawl("restore", "--at", "1")).stderr).toContain(`driven by process ${owner.pid}`);
  await recording.release();
  recording.close();
});

it("lists the runs of this repository, or all", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  const other = await recordRun({ dir: place.state, repository: place.home, run: "r-20261115-bbbbbb" });
  await other.release();
  other.close();
  const here = (await place.pawl("runs")).stdout;
  expect(here).toMatch(new RegExp(`^${RUN} +.* +not driven +iteration 2 +~\\$0\\.50 +make hello work\\n$`));
  const all = (await place.pawl("runs", "--all", "--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { run: string });
  expect(all.map(({ run }) => run)).toEqual([RUN, "r-20261115-bbbbbb"]);
  const elsewhere = await place.start(["runs"], { cwd: place.home }).done;
  expect(elsewhere.stdout.trim().split("\n")).toHaveLength(2);
  const ambiguous = await place.pawl("status", "r-2026");
  expect([ambiguous.code, ambiguous.stderr]).toEqual([2, expect.stringContaining("beginning of 2 runs")]);
  recording.close();
});

it("merges facts and trace in the order of time, and sorts them out again", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  const lines = (await place.pawl("logs")).stdout
    .trim()
    .split("\n")
    .map((line) => line.slice("00:00:00 ".length));
  const at = lines.findIndex((line) => line.startsWith("• turn 1, new session"));
  expect(lines.slice(at + 1, at + 5)).toEqual([
    "  I say hello",
    "  → Bash run hello",
    "  ← failed hello",
    expect.stringMatching(/^• turn 1 done after 61\.0 s, Bash × 2, Write × 1, 1,200 tokens, \$0\.2500$/),
  ]);
  const facts = (await place.pawl("logs", "--facts", "--json")).facts();
  expect(facts).toEqual(await recording.handle.journal.read(RUN));
  const trace = (await place.pawl("logs", "--trace", "--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(trace.map(({ type, kind }) => [type, kind])).toEqual([
    ["trace", "text"],
    ["trace", "tool-start"],
    ["trace", "tool-end"],
  ]);
  const second = (await place.pawl("logs", "--turn", "2")).stdout.trim().split("\n");
  expect(second).toHaveLength(2);
  recording.close();
});

it("says that nobody drives a run whose end is waited for", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  recording.close();
  const following = place.start(["logs", "--follow"]);
  await waitFor(() => following.stderr().includes("nobody drives this run now"), { what: "a word about it" });
  following.child.kill("SIGTERM");
  await following.done;
});

it("follows facts and trace of another process live, until the run ends", async () => {
  const { place, recording } = await recorded();
  const following = place.start(["logs", "--follow", "--json"]);
  const count = (): number => following.stdout().split("\n").length - 1;
  const past = (await recording.handle.journal.read(RUN)).length + 3;
  await waitFor(() => count() === past, { what: "the past" });
  recording.handle.trace.write(RUN, {
    at: Date.now(),
    turn: 3,
    kind: "text",
    data: { type: "text", text: "live words" },
  });
  await waitFor(() => following.stdout().includes("live words"), { what: "a live line" });
  await recording.add({ type: "run-end", outcome: { is: "stopped", rule: "directive:stop-now", reason: "enough" } });
  const { code, stdout } = await following.done;
  expect(code).toBe(0);
  expect(stdout.split("\n").length - 1).toBe(past + 2);
  expect((await place.pawl("logs", "--follow")).stdout).toContain("run ended: stopped (enough)");
  recording.close();
});

it("shows prompt, verdict, decision and log of an iteration from the blobs", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  recording.close();
  const prompt = (await place.pawl("show", "-i", "1", "--prompt")).stdout;
  expect(prompt).toMatch(/^ {2}goal +10 bytes$/m);
  expect(prompt).toMatch(/^ {2}verdicts +left out: no room +900 bytes$/m);
  expect(prompt).toContain("The whole prompt: hello\n");
  const verdict = (await place.pawl("show", "--verdict")).stdout;
  expect(verdict).toMatch(/^ {2}command +npm test$/m);
  expect(verdict).toMatch(/^ {2}exit code +1$/m);
  expect(verdict).toContain("expected 2 to be 0");
  expect((await place.pawl("show", "--decision")).stdout).toMatch(/^Decision: continue → continue\n/);
  expect((await place.pawl("show", "--log", "tests")).stdout).toBe("not ok 1 - a\nhello\n");
  const whole = JSON.parse(
    (await place.pawl("show", "-i", "1", "--json", "--prompt", "--log", "tests")).stdout,
  ) as Record<string, unknown>;
  expect(whole).toMatchObject({
    v: 1,
    iteration: 1,
    checks: [{ check: "tests" }],
    decision: { rule: "continue" },
    log: "not ok 1 - a\nhello\n",
  });
  for (const args of [
    ["-i", "9"],
    ["--log", "lint"],
    ["-i", "x"],
  ])
    expect((await place.pawl("show", ...args)).code).toBe(2);
});

it("lets no escape sequence of agents, tools or goals reach the terminal (A9)", async () => {
  const text = "\u001b]0;owned\u0007\u001b[31m\u009b2J\u001b]52;c;eA==\u001b\\\u202eword\b";
  const { place, recording } = await recorded({ text });
  await recording.handle.inbox.put(RUN, { kind: "say", text, when: "next" }, { source: text });
  await recording.release();
  recording.close();
  const commands = [
    ["status"],
    ["runs"],
    ["logs"],
    ["show"],
    ["show", "--prompt"],
    ["show", "--verdict"],
    ["show", "--log", "tests"],
    ["memory", "list"],
    ["steer", text],
  ];
  for (const args of commands) {
    const { stdout, stderr, code } = await place.pawl(...args);
    expect([args, code, (stdout + stderr).includes("word")]).toEqual([args, 0, true]);
    expect(stdout + stderr).not.toMatch(/[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/v);
  }
});

it("names a person's commit that went with what was put back, and how to have it again", async () => {
  const work = "date +%s%N >> work.txt";
  const waits = `touch ${GATE}in; while [ ! -e ${GATE}go ]; do sleep 0.02; done; ${work}`;
  const turns = Object.fromEntries([1, 2, 3, 4, 5, 7].map((n) => [n, [work, "going on"] as const]));
  const place = await cliPlace({ shellAgent: { ...turns, 6: [waits, "going on"] } });
  const running = place.start(["run", "make it", "--check", "test -f never.txt"]);
  const gate = (name: string): string => join(place.repository.path, `${GATE}${name}`);
  await waitFor(() => existsSync(gate("in")), { what: "the sixth turn" });
  // Beside it the work of the fifth may still be handed over: what is staged then is kept, but not committed.
  const handedOver = (): boolean => place.repository.git("log", "-1", "--format=%B").includes("Pawl-Iteration: 5");
  const isLocked = (): boolean => existsSync(join(place.repository.path, ".git/index.lock"));
  await waitFor(() => handedOver() && !isLocked(), { what: "the hand-over of the fifth" });
  const mine = place.repository.commit("mine", { "notes.md": "mine\n" });
  writeFileSync(gate("go"), "");
  const { code, stderr } = await running.done;
  expect(code).toBe(1);
  expect(existsSync(join(place.repository.path, "notes.md"))).toBe(false);
  expect(stderr).toMatch(new RegExp(`^  taken back  your ${mine.slice(0, 10)}, .*salvage/\\d+ --branch NAME$`, "m"));
  place.repository.git("cherry-pick", mine);
  expect(place.repository.git("show", "HEAD:notes.md")).toBe("mine");
});
