/** `pawl run` and `pawl resume` through the built command line, with the real Claude Code on the stand-in model. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunSpec } from "../../src/spec.ts";
import type { Script, Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliResult } from "../support/cli.ts";
import { taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const CHECK = ["--check", "made=test -f made.txt"];

function outcomeOf(result: CliResult): string {
  const end = result.of("run-end").at(-1);
  return end === undefined ? `none: ${result.stderr}` : end.outcome.is;
}

describe("a run", () => {
  it("ends verified on a claim with a pass, after refusing a false claim, and leaves commits on its own branch", async () => {
    const { repository, pawl } = await cliPlace({
      script: byIteration({
        1: [bash("echo wrong > other.txt"), { text: "A first try." }],
        2: [{ text: CLAIM }],
        3: [bash("echo right > made.txt"), { text: CLAIM }],
      }),
    });
    const base = repository.git("rev-parse", "main");
    const result = await pawl("run", "make made.txt", ...CHECK);
    expect(result.stderr).toContain("claim-refused");
    expect(result.stdout).toBe("verified pawl/make-made-txt\n");
    expect(result.code).toBe(0);
    expect(readFileSync(join(repository.path, "made.txt"), "utf8")).toBe("right\n");
    expect(repository.git("rev-parse", "main")).toBe(base);
    expect(repository.git("symbolic-ref", "--short", "HEAD")).toBe("pawl/make-made-txt");
    expect(repository.git("status", "--porcelain")).toBe("");
    const log = repository.git("log", "--format=%(trailers:only,unfold,separator=%x2C)", "main..pawl/make-made-txt");
    expect(log.split("\n").map((line) => line.replace(/Pawl-Run: r-[\w-]+,/, ""))).toEqual([
      "Pawl-Iteration: 3,Pawl-Verdict: green (made: pass)",
      "Pawl-Iteration: 1,Pawl-Verdict: red (made: fail)",
    ]);
    for (const word of [
      "checks",
      "iterations  3 of 20",
      "cost",
      "tokens",
      "branch",
      "diff",
      "unverified",
      "isolation   fenced: bwrap: ",
      "  fenced: bwrap: own namespaces",
    ]) {
      expect(result.stderr).toContain(word);
    }
  });

  it("refuses a claim that comes too early and says so in the next prompt, ends claimed without a check, with exit 1, and 0 where the promise is trusted (row 4)", async () => {
    const script = byIteration({ 1: [bash("echo x > made.txt"), { text: CLAIM }], 2: [{ text: CLAIM }] });
    const { pawl } = await cliPlace({ script });
    const result = await pawl("run", "make made.txt", "--json");
    expect(outcomeOf(result)).toBe("claimed");
    expect(result.code).toBe(1);
    expect(result.facts().at(0)?.type).toBe("run-start");
    expect(result.facts().at(-1)?.type).toBe("run-end");
    expect(result.facts().map((fact) => fact.seq)).toEqual(result.facts().map((_, at) => at));
    expect(result.of("decision-made").map(({ rule }) => rule)).toEqual(["claim-early", "claim"]);
    const told = await pawl("show", "--prompt", "-i", "2");
    expect(told.stdout).toMatch(/## Decision\n\n.*(early|minimum|iteration)/i);
    const trusting = await cliPlace({ script });
    expect((await trusting.pawl("run", "make made.txt", "--trust-promise")).code).toBe(0);
  });

  it("takes a promise in tool output for no claim, ends exhausted, and goes on only under a higher limit (row 2)", async () => {
    const echo = [bash("echo '<promise>COMPLETE</promise>'; date +%N > made.txt"), { text: "See the output above." }];
    const { pawl } = await cliPlace({ script: byIteration({ 1: echo, 2: echo, 3: [{ text: CLAIM }] }) });
    const result = await pawl("run", "make made.txt", "--max-iterations", "2", "--json");
    expect(result.of("turn-end").map((fact) => fact.claim)).toEqual([null, null]);
    expect(outcomeOf(result)).toBe("exhausted");
    expect(result.code).toBe(3);
    const refused = await pawl("resume");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/limit on iterations.*\n.*--max-iterations 4/);
    const raised = await pawl("resume", "--max-iterations", "3", "--json");
    expect(raised.of("run-reopened").map((fact) => fact.limits)).toEqual([{ iterations: 3 }]);
    expect(outcomeOf(raised)).toBe("claimed");
  });

  it("needs no claim with --until-green, and a verified run is not reopened", async () => {
    const { pawl } = await cliPlace({ script: byIteration({ 1: [bash("echo x > made.txt"), { text: "Made it." }] }) });
    const result = await pawl("run", "make made.txt", ...CHECK, "--until-green", "--json");
    expect(outcomeOf(result)).toBe("verified");
    expect(result.code).toBe(0);
    const again = await pawl("resume");
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("is verified");
  });

  it("shows what it would do with --dry-run and changes nothing", async () => {
    const { repository, state, pawl, standin } = await cliPlace({ script: byIteration({}) });
    const result = await pawl("run", "make made.txt", ...CHECK, "--max-cost", "5", "--dry-run");
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/max-cost +5 +--max-cost/);
    expect(result.stdout).toMatch(/backoff +50ms +PAWL_BACKOFF/);
    expect(result.stdout).toContain("## Goal\n\nmake made.txt");
    expect(result.stdout).toContain("<promise>COMPLETE</promise>");
    const passedOn = await pawl(
      "run",
      "-f",
      "readme.md",
      "--dry-run",
      "--json",
      "--",
      "--append-system-prompt",
      "Be brief.",
    );
    const { spec } = JSON.parse(passedOn.stdout) as { spec: RunSpec };
    expect(spec.goal).toBe("hello");
    expect(spec.agent.options).toEqual({ extra: ["--append-system-prompt", "Be brief."] });
    expect(existsSync(state)).toBe(false);
    expect(standin?.requests).toEqual([]);
    expect(repository.git("branch", "--list")).toBe("* main");
  });

  it("gives the agent the base's instruction files, also after the agent has rewritten them", async () => {
    const { pawl, sent } = await cliPlace({
      files: { "CLAUDE.md": "Speak like a sailor.\n" },
      script: byIteration({
        1: [bash("echo 'Speak like a king.' > CLAUDE.md; echo x > made.txt"), { text: "Aye." }],
        2: [{ text: CLAIM }],
      }),
    });
    expect((await pawl("run", "make made.txt", ...CHECK, "--context", "fresh")).code).toBe(0);
    const last = JSON.parse(sent().at(-1) ?? "{}") as { system?: unknown };
    expect(JSON.stringify(last.system)).toContain("Speak like a sailor.");
    expect(JSON.stringify(last.system)).not.toContain("Speak like a king.");
  });
});

describe("a signal", () => {
  it("once: Ctrl-C lets the iteration end and the run can be gone on with", async () => {
    const gate = `${GATE}stop`;
    const { start, pawl, repository } = await cliPlace({
      script: byIteration({
        1: [bash(`echo half > made.txt; until [ -e ${gate} ]; do sleep 0.05; done`), { text: "Half." }],
        2: [{ text: CLAIM }],
      }),
    });
    const running = start(["run", "make made.txt", ...CHECK]);
    await waitFor(() => running.stderr().includes("→ Bash"), { what: "the tool call" });
    running.child.kill("SIGINT");
    await waitFor(() => running.stderr().includes("directive d1 delivered"), { what: "the stop" });
    writeFileSync(join(repository.path, gate), "");
    const result = await running.done;
    expect(result.stderr).toContain("stopping after this iteration");
    expect(result.stderr).toContain("made: pass");
    expect(result.stdout).toBe("stopped pawl/make-made-txt\n");
    expect(result.code).toBe(1);
    const resumed = await pawl("resume", "--json");
    expect(outcomeOf(resumed)).toBe("verified");
  });

  it("three times: Ctrl-C ends at once with 130 and leaves no process; SIGTERM ends in order with 143", async () => {
    const slow = [bash("echo half > made.txt; sleep 30"), { text: CLAIM }];
    const { start, pawl, repository } = await cliPlace({ script: byIteration({ 1: slow, 2: [{ text: CLAIM }] }) });
    const killed = start(["run", "make made.txt", ...CHECK]);
    await waitFor(() => killed.stderr().includes("→ Bash"), { what: "the tool call" });
    const run = /r-\d{8}-\w{6}/.exec(killed.stderr())?.[0] ?? "";
    for (const said of ["stopping after", "ending the turn", "killed"]) {
      killed.child.kill("SIGINT");
      await waitFor(() => killed.stderr().includes(said) || killed.child.exitCode !== null, { what: said });
      if (killed.child.exitCode !== null) break;
    }
    const { code, stderr } = await killed.done;
    // It may have ended in order just before the third.
    expect([
      [130, true],
      [1, false],
    ]).toContainEqual([code, stderr.includes("killed; ")]);
    await waitFor(() => taggedProcesses("PAWL_RUN", run).length === 0, { what: "the end of all its processes" });
    expect(killed.stderr()).toContain(`pawl resume ${run}`);
    repository.git("stash", "-u", "-q");
    repository.git("switch", "-q", "main");
    const ended = start(["run", "make made.txt", ...CHECK]);
    await waitFor(() => ended.stderr().includes("→ Bash"), { what: "the tool call" });
    ended.child.kill("SIGTERM");
    expect((await ended.done).code).toBe(143);
    expect(ended.stderr()).toMatch(/go on later with: pawl resume r-/);
    expect((await pawl("status")).code).toBe(0);
  });
});

describe.concurrent("a provider or an agent that fails", () => {
  const MADE: Step[] = [bash("echo x > made.txt"), { text: CLAIM }];
  /** So many requests of the agent's own work are answered with the fault before the script begins. */
  const after = (fault: Step, times: number): Script => {
    let served = 0;
    return (request, step) => {
      if (request.tools.size === 0) return { text: "ok" };
      served += 1;
      return served <= times ? fault : (MADE[step] ?? { text: "ok" });
    };
  };
  /** The agent's own before it gives up. */
  const TRIES = 4;
  /** Longer than the agent takes to start on a busy machine. */
  const IDLE = "25s";
  const usedUp = { status: 429, usageLimitText: "You've hit your limit", resetInS: 3 };
  const suicide = bash("test -e $HOME/crashed || { touch $HOME/crashed; kill -9 $PPID; sleep 5; }");
  const cases = [
    { what: "429 with a reset time", script: after(usedUp, 1), first: "limited", waits: /^usage limit/ },
    { what: "529", script: after({ status: 529 }, TRIES), first: "limited", waits: /^overloaded limit/ },
    { what: "a dropped stream", script: after({ cutSocket: "mid" }, TRIES + 1), first: "cut", waits: /cut$/ },
    { what: "a hang", script: after({ hang: true }, 1), first: "timeout", waits: /timeout$/ },
    { what: "a crash of the agent", script: after(suicide, 1), first: "cut", waits: /cut$/ },
  ];
  it.for(cases)(
    "$what: is waited for, consumes no iteration, and the run completes (F15, row 10)",
    async (it, { expect }) => {
      const { pawl, standin } = await cliPlace({ script: it.script, login: "subscription" });
      const idle = it.first === "timeout" ? ["--idle-timeout", IDLE] : [];
      const result = await pawl("run", "make made.txt", ...CHECK, ...idle, "--json");
      expect(outcomeOf(result)).toBe("verified");
      expect(result.code).toBe(0);
      expect(result.of("iteration-start")).toHaveLength(1);
      expect(result.of("turn-end").map((fact) => fact.outcome.is)).toEqual([it.first, "done"]);
      const [wait, ...more] = result.of("wait-start");
      expect(more).toEqual([]);
      expect(wait?.reason).toMatch(it.waits);
      const [, again] = result.of("turn-start");
      expect(again?.iteration).toBe(1);
      if (typeof wait?.until === "number") expect(again?.at).toBeGreaterThanOrEqual(wait.until);
      else expect(again?.elapsed).toBeGreaterThanOrEqual(wait?.untilElapsed ?? Number.NaN);
      // What a half-sent answer costs is the provider's secret; all else is charged to the token.
      if (it.what === "a dropped stream") return;
      const billed = (standin?.requests ?? [])
        .filter(({ answered }) => answered === "answer")
        .map(({ billing }) => billing);
      const spent = result.of("turn-end").map(({ usage }) => usage);
      const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0);
      expect(sum(spent.map((usage) => usage.outputTokens))).toBe(sum(billed.map((bill) => bill.outputTokens)));
      expect(sum(spent.map((usage) => usage.cacheReadTokens))).toBe(sum(billed.map((bill) => bill.cacheReadTokens)));
    },
  );
});
