/** Errors, throttles and limit waits of whole runs: paused for a person, held back, and kept over a restart. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { liveRun } from "../support/live-run.ts";
import { waitFor } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const asked = ({ standin }: CliPlace): number =>
  (standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0).length;

describe("failed turns in a row", () => {
  it("pause the run with --on-errors pause: diagnostics in the notes, a person asked, and on it goes", async () => {
    // The agent's own process dies in its turn until a file says otherwise.
    const place = await cliPlace({
      script: byIteration({
        1: [bash("test -e healed || { kill -9 $PPID; sleep 5; }; echo x > made.txt"), { text: CLAIM }],
      }),
    });
    const notes = join(place.repository.path, "NOTES.md");
    const running = place.start([
      "run",
      "make made.txt",
      "--check",
      "test -f made.txt",
      "--on-errors",
      "pause",
      "--max-errors",
      "2",
    ]);
    const live = await liveRun({ state: place.state, env: place.env });
    const question = await live.nth("human-requested");
    const before = asked(place);
    expect(question).toMatchObject({ question: "q1", kind: "errors", turn: null, untilElapsed: null });
    const written = readFileSync(notes, "utf8");
    expect(written).toMatch(/^## Health pause after turn 2\n/);
    expect(written.match(/^- turn [12] .* cut: /gm)).toHaveLength(2);
    expect((await place.pawl("status")).stdout).toContain("q1: its turns fail: 2 turns in a row failed");
    await waitFor(() => running.stderr().includes(`pawl answer ${live.run} q1`), { seen: running.stderr });
    // A while after it was paused.
    expect(asked(place)).toBe(before);

    writeFileSync(join(place.repository.path, "healed"), "");
    expect((await place.pawl("answer", "q1", "go on", "--wait")).stdout).toBe("d1 delivered (going on)\n");
    const ended = await running.done;
    expect([ended.code, ended.stdout]).toEqual([0, "verified pawl/make-made-txt\n"]);
    expect(await live.of("iteration-start")).toHaveLength(1);
    expect((await live.of("turn-end")).map(({ outcome }) => outcome.is)).toEqual(["cut", "cut", "done"]);
  });
});

describe("--max-calls-per-hour", () => {
  it("holds the next turn back until the hour has room, and not a request is made before", async () => {
    const place = await cliPlace({
      script: byIteration({ 1: [{ text: "Not yet." }], 2: [bash("echo x > made.txt"), { text: CLAIM }] }),
    });
    const running = place.start([
      "run",
      "make made.txt",
      "--check",
      "test -f made.txt",
      "--max-calls-per-hour",
      "1",
      "--json",
    ]);
    const live = await liveRun({ state: place.state, env: place.env });
    const wait = await live.nth("wait-start");
    const [first] = await live.of("turn-start");
    expect(wait.reason).toBe("1 call in the last hour");
    expect(wait.until).toBe((first?.at ?? 0) + 3_600_000);
    expect(asked(place)).toBe(1);
    expect((await place.pawl("status")).stdout).toMatch(/^state +waiting until .*1 call in the last hour$/m);
    expect((await place.pawl("budget", "--max-calls-per-hour", "9", "--wait")).code).toBe(0);
    expect((await running.done).code).toBe(0);
    expect(await live.of("turn-start")).toHaveLength(2);
  });
});

describe("a wait for a usage limit", () => {
  it("survives kill -9: driven again it waits for the same reset, and asks the provider nothing before", async () => {
    const RESET_S = 12;
    let served = 0;
    const usedUp: Step = { status: 429, usageLimitText: "You've hit your limit", resetInS: RESET_S };
    const steps: Step[] = [bash("echo x > made.txt"), { text: CLAIM }];
    const place = await cliPlace({
      login: "subscription",
      script: (request, step) => {
        if (request.tools.size === 0) return { text: "ok" };
        served += 1;
        return served === 1 ? usedUp : (steps[step] ?? { text: "ok" });
      },
    });
    const running = place.start(["run", "make made.txt", "--check", "test -f made.txt"]);
    const live = await liveRun({ state: place.state, env: place.env });
    const wait = await live.nth("wait-start");
    expect(wait.until).not.toBeNull();
    running.child.kill("SIGKILL");
    expect((await running.done).signal).toBe("SIGKILL");
    expect(asked(place)).toBe(1);

    const again = await place.pawl("resume", "--json");
    expect(again.code).toBe(0);
    const [, second] = await live.of("turn-start");
    const ends = await live.of("wait-end");
    expect(ends.map(({ why, wait: name }) => [why, name])).toEqual([["over", wait.wait]]);
    expect(second?.at).toBeGreaterThanOrEqual(wait.until ?? Number.POSITIVE_INFINITY);
    const requests = (place.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);
    expect(Date.parse(requests[1]?.at ?? "")).toBeGreaterThanOrEqual(
      Math.floor(wait.until ?? Number.POSITIVE_INFINITY),
    );
    expect(await live.of("iteration-start")).toHaveLength(1);
  });
});
