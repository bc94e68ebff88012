/**
 * Eight runs at once in worktrees of one repository, with the real Claude Code on one stand-in: steered, stopped, killed
 * and resumed one by one. What each was told, does, spends and delivers is its own: looked up in what the model was sent,
 * in the journals and in the trees.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openState, type State } from "../../src/compose.ts";
import type { Fact, FactOf } from "../../src/events.ts";
import type { ScriptFile } from "../../src/standin/script.ts";
import { CLAIM, cliPlace, type CliPlace, type RunningCli } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

const RUNS = Array.from({ length: 8 }, (_, n) => n);
const STOPPED = 6;
const KILLED = 7;
const TEST_LIMIT_MS = 400_000;
const LIMIT_MS = 350_000;
/** In each worktree, and ignored by git: the only place that a test outside the fence and an agent inside share. */
const GATE = "gate";

/** Found nowhere but where they belong. */
const goalOf = (n: number): string => `goal-of-run-${n}`;
const wordOf = (n: number): string => `word-for-run-${n}`;
const envOf = (n: number): string => `env-of-run-${n}`;
const marksOf = (n: number): string[] => [goalOf(n), wordOf(n), envOf(n), `own-${n}.txt`];

/** The first waits until the last has come as far: longer than a call may take by itself. */
const bash = (command: string) => ({
  tools: [{ name: "Bash", input: { command, description: "work", timeout: LIMIT_MS } }],
});
/** All are at work at once before any goes on. */
const HELD = `node -e "const t=setInterval(()=>{if(require('fs').existsSync('${GATE}'))clearInterval(t)},50)"`;

const script: ScriptFile = {
  marker: "Iteration \\d+",
  rules: RUNS.flatMap((n) => [
    {
      when: { firstUserIncludes: goalOf(n), promptIncludes: "Iteration 1 " },
      steps: [bash(`printf "$OWN" > own-${n}.txt; ${HELD}`), { text: "half of it" }],
    },
    {
      when: { firstUserIncludes: goalOf(n), promptIncludes: "Iteration 2 " },
      steps: [bash(`printf " right" >> own-${n}.txt`), { text: CLAIM }],
    },
  ]),
  steps: [{ text: "ok" }],
};

interface Started {
  n: number;
  id: string;
  running: RunningCli;
}

function start(place: CliPlace, n: number): RunningCli {
  const check = `own=grep -q right own-${n}.txt && test "$OWN" = ${envOf(n)}`;
  const args = ["run", `Reach ${goalOf(n)}`, "--check", check, `--worktree=w${n}`, "--env", "OWN", "--json"];
  return place.start(args, { env: { OWN: envOf(n) }, limitMs: LIMIT_MS });
}

async function idOf(running: RunningCli): Promise<string> {
  await waitFor(() => running.stdout().includes("\n"), { what: "a run", limitMs: LIMIT_MS });
  return (JSON.parse(running.stdout().split("\n")[0] ?? "") as Fact).run;
}

async function pathOf(state: State, id: string): Promise<string> {
  const [first] = await state.journal.read(id);
  return first?.type === "run-start" ? first.spec.workspace.path : "";
}

/** Its file is written, and it waits at the gate. */
async function atWork(state: State, { id, n }: Started): Promise<void> {
  const isTold = async (): Promise<boolean> =>
    (await state.trace.read(id, { turn: 1 })).some(({ line }) => line.kind === "tool-start");
  await waitFor(isTold, { what: `a tool call of ${id}`, limitMs: LIMIT_MS });
  const file = join(await pathOf(state, id), `own-${n}.txt`);
  const isWritten = (): boolean => existsSync(file) && readFileSync(file, "utf8") === envOf(n);
  await waitFor(isWritten, { what: file, limitMs: LIMIT_MS });
}

const foreign = (text: string, n: number): string[] =>
  RUNS.filter((other) => other !== n).flatMap((other) => marksOf(other).filter((mark) => text.includes(mark)));

it(
  "eight runs at once in worktrees of one repository are steered and stopped one by one, and nothing leaks between them",
  async () => {
    const place = await cliPlace({ script });
    writeFileSync(join(place.repository.path, ".git/info/exclude"), `${GATE}\n`);
    const all: Started[] = await Promise.all(
      RUNS.map(async (n) => {
        const running = start(place, n);
        return { n, running, id: await idOf(running) };
      }),
    );
    const state = openState(place.env);
    onTestFinished(() => state.close());
    await Promise.all(all.map((one) => atWork(state, one)));
    const idAt = (n: number): string => all[n]?.id ?? "";

    const listed = (await place.pawl("worktrees", "list", "--json")).stdout.trim().split("\n");
    const live = listed.map((line) => JSON.parse(line) as { name: string; run: string; inUse: number });
    expect(live.map(({ name, run }) => [name, run])).toEqual(RUNS.map((n) => [`w${n}`, idAt(n)]));
    expect(new Set(live.map(({ inUse }) => inUse)).size).toBe(RUNS.length);
    expect((await place.pawl("worktrees", "clean", "--force")).stdout.match(/^kept .*works in it$/gm)).toHaveLength(8);

    for (const n of RUNS) expect((await place.pawl("steer", idAt(n), "--next", wordOf(n))).code).toBe(0);
    expect((await place.pawl("stop", idAt(STOPPED), "--now", "--wait=120")).code).toBe(0);
    all[KILLED]?.running.child.kill("SIGKILL");
    await all[KILLED]?.running.done;
    for (const n of RUNS) writeFileSync(join(await pathOf(state, idAt(n)), GATE), "");
    const resumed = place.start(["resume", idAt(KILLED), "--json"], { env: { OWN: envOf(KILLED) }, limitMs: LIMIT_MS });
    const ends = await Promise.all(all.map(({ n, running }) => (n === KILLED ? resumed : running).done));
    expect(ends.map(({ code }) => code)).toEqual(RUNS.map((n) => (n === STOPPED ? 1 : 0)));

    const facts = await Promise.all(all.map(({ id }) => state.journal.read(id)));
    const of = <T extends Fact["type"]>(n: number, type: T): FactOf<T>[] =>
      (facts[n] ?? []).filter((fact): fact is FactOf<T> => fact.type === type);
    expect(RUNS.map((n) => of(n, "run-end")[0]?.outcome.is)).toEqual(
      RUNS.map((n) => (n === STOPPED ? "stopped" : "verified")),
    );

    // Prompts and words: no request holds a mark of another run, and each word was heard by its own run only.
    for (const body of place.sent()) {
      const [own, ...more] = RUNS.filter((n) => body.includes(goalOf(n)));
      expect(more).toEqual([]);
      if (own !== undefined) expect(foreign(body, own)).toEqual([]);
      else expect(RUNS.flatMap(marksOf).filter((mark) => body.includes(mark))).toEqual([]);
    }
    const hears = (n: number): boolean => place.sent().some((body) => body.includes(wordOf(n)));
    expect(RUNS.filter(hears)).toEqual(RUNS.filter((n) => n !== STOPPED));

    // Journals and sessions.
    for (const n of RUNS) expect(foreign(JSON.stringify(facts[n]), n)).toEqual([]);
    const refs = RUNS.map((n) => new Set(of(n, "turn-start").map(({ session }) => session.ref)));
    expect(new Set(refs.flatMap((own) => [...own])).size).toBe(refs.reduce((sum, own) => sum + own.size, 0));

    // Costs: what a run has in its ledger is what its own conversations were billed for.
    for (const n of RUNS.filter((run) => run !== KILLED && run !== STOPPED)) {
      const own = (place.standin?.requests ?? []).filter(({ prompt }) => prompt.includes(goalOf(n)));
      const billed = own.reduce((sum, { billing }) => sum + billing.outputTokens, 0);
      expect(of(n, "turn-end").reduce((sum, { usage }) => sum + usage.outputTokens, 0)).toBe(billed);
    }

    // Trees, branches, environment: each branch holds its own file, and the user's own directory is untouched.
    const { git } = place.repository;
    for (const n of RUNS) {
      const branch = `pawl/reach-${goalOf(n)}`;
      const path = await pathOf(state, idAt(n));
      expect(readdirSync(path).toSorted()).toEqual([".git", GATE, `own-${n}.txt`, "readme.md"]);
      expect(git("diff", "--name-only", `main..${branch}`)).toBe(`own-${n}.txt`);
      expect(git("show", `${branch}:own-${n}.txt`)).toBe(n === STOPPED ? envOf(n) : `${envOf(n)} right`);
    }
    expect(git("status", "--porcelain", "-b")).toBe("## main");
    expect(existsSync(join(place.repository.path, "own-0.txt"))).toBe(false);
    const repos = join(place.state, "repos");
    const [only = "", ...others] = readdirSync(repos);
    expect(others).toEqual([]);
    expect(git(`--git-dir=${join(repos, only, "private.git")}`, "fsck", "--full", "--no-dangling")).toBe("");

    expect((await place.pawl("worktrees", "clean")).stdout.match(/^removed w\d$/gm)).toHaveLength(8);
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
  },
  TEST_LIMIT_MS,
);
