/** Defects of other loops (docs/ralph.md) that no other test shows absent here, with the real Claude Code on the stand-in. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";
import { bash, gate } from "../support/watch-run.ts";

const CHECK = ["--check", "made=grep -q right made.txt"];
const MADE: Step[] = [bash("echo right > made.txt"), { text: CLAIM }];
const DAY_MS = 86_400_000;
const runOf = (stderr: string): string => /r-\d{8}-\w{6}/.exec(stderr)?.[0] ?? "";
const asked = ({ standin }: CliPlace) => (standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);
const budgetOf = async ({ pawl }: CliPlace) =>
  (JSON.parse((await pawl("status", "--json")).stdout) as { budget: Record<string, { used: number }> }).budget;

/** None of a process that has ended meanwhile. */
function commandLine(pid: number): string[] {
  try {
    return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
  } catch {
    return [];
  }
}

describe.concurrent("a run", () => {
  it("has neither goal nor instructions in the arguments of any of its processes", async ({ expect }) => {
    const held = gate();
    const place = await cliPlace({
      files: { "goal.md": "Reach the quokka.", "CLAUDE.md": "Speak like a wombat." },
      script: byIteration({ 1: [held.step, ...MADE] }),
    });
    const running = place.start(["run", "goal.md", ...CHECK]);
    await waitFor(() => running.stderr().includes("→ Bash"), { what: "the tool call" });
    const pids = [running.child.pid ?? 0, ...taggedProcesses("PAWL_RUN", runOf(running.stderr()))];
    const lines = pids.flatMap(commandLine);
    held.open(place);
    expect((await running.done).code).toBe(0);
    expect(lines.filter((line) => line.includes("--output-format stream-json"))).not.toEqual([]);
    expect(lines.filter((line) => /quokka|wombat/.test(line))).toEqual([]);
    const sent = place.sent().join("\n");
    expect([sent.includes("quokka"), sent.includes("wombat")]).toEqual([true, true]);
  });

  it("that is killed keeps what its agent had said and done, and goes on", async ({ expect }) => {
    const held = gate();
    const place = await cliPlace({
      script: byIteration({ 1: [{ text: "Quokka first.", ...bash("echo half > made.txt") }, held.step, ...MADE] }),
    });
    const running = place.start(["run", "make it", ...CHECK]);
    const calls = (): number => running.stderr().match(/→ Bash/g)?.length ?? 0;
    await waitFor(() => calls() === 2, { what: "the second tool call" });
    running.child.kill("SIGKILL");
    expect((await running.done).signal).toBe("SIGKILL");
    const logged = (await place.pawl("logs")).stdout;
    expect(logged).toContain("Quokka first.");
    expect(logged).toContain("→ Bash echo half > made.txt");
    held.open(place);
    expect((await place.pawl("resume")).stdout).toBe("verified pawl/make-it\n");
  });

  it("is cut within a turn at its limit, not after it; times are read in any case and with blanks", async ({
    expect,
  }) => {
    const place = await cliPlace({ script: { steps: [{ ...bash("date +%N >> made.txt"), repeat: true }] } });
    const result = await place.pawl("run", "make it", "--max-tool-calls", "3", "--max-time", "1H 30 m", "--json");
    expect(result.of("run-start")[0]?.spec.limits).toMatchObject({ toolCalls: 3, drivenMs: 5_400_000 });
    expect(result.of("turn-end").map(({ outcome }) => outcome)).toEqual([
      { is: "interrupted", by: "budget:tool-calls" },
    ]);
    expect([result.code, result.of("run-end")[0]?.outcome.rule]).toEqual([3, "budget:tool-calls"]);
    expect((await budgetOf(place))["toolCalls"]?.used).toBeLessThanOrEqual(4);
    // The call that met the limit may have been cut.
    expect(place.repository.git("show", "HEAD:made.txt").split("\n").length).toBeGreaterThanOrEqual(2);
  });

  it("keeps its counts of rounds and dollars when checks fail after a claim, and takes no phrase for one (row 14)", async ({
    expect,
  }) => {
    const place = await cliPlace({
      script: byIteration({
        1: [bash("echo one > made.txt"), { text: "All tasks complete. Nothing left to do.\n\nCOMPLETE" }],
        2: [bash("echo two > made.txt"), { text: CLAIM }],
        3: [bash("echo three > made.txt"), { text: CLAIM }],
        4: [bash("echo right > made.txt"), { text: "Now it is.\n\n<promise> complete </promise>" }],
      }),
    });
    const result = await place.pawl("run", "make it", ...CHECK, "--max-cost", "5", "--json");
    expect(result.of("decision-made").map(({ rule }) => rule)).toEqual([
      "continue",
      "claim-refused",
      "claim-refused",
      "all-required-pass",
    ]);
    const budget = await budgetOf(place);
    expect(budget["iterations"]?.used).toBe(4);
    const turns = result.of("turn-end").map(({ usage }) => usage.usd ?? Number.NaN);
    expect(turns.every((usd) => usd > 0)).toBe(true);
    expect(budget["usd"]?.used).toBeCloseTo(
      turns.reduce((sum, usd) => sum + usd, 0),
      9,
    );
  });

  it("that only shows its end is cut all the same when its agent is silent: all its children, once, at no iteration", async ({
    expect,
  }) => {
    let hangs = 0;
    const steps: Step[] = [bash("setsid sleep 300 & echo begun > made.txt"), ...MADE];
    const place = await cliPlace({
      script: (request, step) => {
        if (request.tools.size === 0) return { text: "ok" };
        if (step === 1 && hangs === 0) {
          hangs += 1;
          return { hang: true };
        }
        return steps[step] ?? { text: CLAIM };
      },
    });
    const result = await place.pawl("run", "make it", ...CHECK, "-q", "--idle-timeout", "25 S");
    expect([result.code, result.stdout]).toEqual([0, "verified pawl/make-it\n"]);
    const logged = await place.pawl("logs", "--facts", "--json");
    expect(logged.of("turn-end").map(({ outcome }) => outcome.is)).toEqual(["timeout", "done"]);
    expect(logged.of("wait-start")).toHaveLength(1);
    expect(logged.of("iteration-start")).toHaveLength(1);
    expect(taggedProcesses("PAWL_RUN", logged.facts()[0]?.run ?? "")).toEqual([]);
  });
});

describe.concurrent("an answer of a megabyte", () => {
  it("costs its facts and lines no more than any other, and its last line counts", async ({ expect }) => {
    const flood = `${"All quokkas hop. ".repeat(30_000)}\n${"Hop.\n".repeat(100_000)}`;
    const place = await cliPlace({
      script: byIteration({ 1: [bash("echo right > made.txt"), { text: flood + CLAIM }] }),
    });
    const result = await place.pawl("run", "make it", ...CHECK, "--json");
    expect([result.code, result.of("turn-end")[0]?.claim?.is]).toEqual([0, "done"]);
    expect(Math.max(...result.stdout.split("\n").map((line) => line.length))).toBeLessThan(64 * 1024);
    const lines = (await place.pawl("logs")).stdout.split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(20_000);
  });
});

describe.concurrent("a usage limit", () => {
  it("with a date in its words is waited for by the time that the provider gives, a day at most at once", async ({
    expect,
  }) => {
    const text = "You've hit your limit · resets Oct 9, 5pm";
    const place = await cliPlace({
      login: "subscription",
      script: { steps: [{ status: 429, usageLimitText: text, resetInS: (30 * DAY_MS) / 1_000 }] },
    });
    const running = place.start(["run", "make it", ...CHECK, "--json"]);
    await waitFor(() => running.stdout().includes('"type":"wait-start"'), { what: "the wait" });
    expect((await place.pawl("status")).stdout).toMatch(/^state +waiting until \d{4}-\d\d-\d\d .*usage limit/m);
    expect((await place.pawl("stop", "--now")).code).toBe(0);
    const ended = await running.done;
    const [wait] = ended.of("wait-start");
    expect((wait?.until ?? 0) - (wait?.at ?? 0)).toBeLessThanOrEqual(DAY_MS);
    expect((wait?.until ?? 0) - (wait?.at ?? 0)).toBeGreaterThan(DAY_MS - 60_000);
    expect([ended.code, asked(place).length]).toEqual([1, 1]);
  });
});

describe.concurrent("a task", () => {
  it("that is removed by its number is the one that was listed, among links, [X] and other brackets", async ({
    expect,
  }) => {
    const held = gate();
    const place = await cliPlace({
      script: byIteration({
        1: [held.step, bash("echo right > made.txt; sed -i 's/\\[ \\] one/[x] one/' TASKS.md"), { text: CLAIM }],
        2: [{ text: CLAIM }],
      }),
    });
    const tasks = join(place.repository.path, "TASKS.md");
    writeFileSync(tasks, "- [a link](x.md)\n- [X] old\n- [?] what is this\n- [ ] one\n- [ ] two\n");
    const running = place.start(["run", "make it", "--tasks", ...CHECK]);
    await waitFor(() => running.stderr().includes("→ Bash"), { what: "the tool call" });
    const listed = (await place.pawl("tasks", "list")).stdout;
    expect(listed).toMatch(/^1 +\[x\] old/);
    const number = /^(\d+) +\[ \] two/m.exec(listed)?.[1] ?? "";
    expect((await place.pawl("tasks", "remove", number)).code).toBe(0);
    held.open(place);
    expect((await running.done).stdout).toBe("verified pawl/make-it\n");
    expect(readFileSync(tasks, "utf8")).toBe("- [a link](x.md)\n- [X] old\n- [?] what is this\n- [x] one\n");
  });
});
