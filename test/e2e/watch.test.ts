/** Watching from another process: the real Claude Code in one, `pawl watch` in others. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { currentOwner } from "../../src/platform/owner.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { recorded, RUN } from "../support/recorded-place.ts";
import { waitFor } from "../support/temp.ts";

const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command, description: "work" } }] });

describe("pawl watch", () => {
  it("shows a run of another process live, with the lines its driver shows, and passes its exit code on", async () => {
    const place = await cliPlace({
      script: byIteration({
        1: [bash("while [ ! -e go ]; do sleep 0.05; done"), { text: "Not yet." }],
        2: [bash("echo right > work.txt; rm -f go"), { text: CLAIM }],
      }),
    });
    const driver = place.start(["run", "write work.txt", "--check", "grep -q right work.txt"]);
    await waitFor(() => driver.stderr().includes("→ Bash"), { what: "the first tool call" });
    const watching = place.start(["watch"]);
    const json = place.start(["watch", "--json", "--from", "start"]);
    const left = place.start(["watch"]);
    await waitFor(() => watching.stderr().includes("state "), { what: "a status" });
    await waitFor(() => left.stderr().includes("state "), { what: "a status" });
    left.child.kill("SIGINT");
    const gone = await left.done;
    expect([gone.code, gone.stdout]).toEqual([0, ""]);
    expect(gone.stderr).toContain("the run itself goes on");
    writeFileSync(join(place.repository.path, "go"), "");

    const [drove, watched, facts] = await Promise.all([driver.done, watching.done, json.done]);
    expect([drove.code, watched.code, facts.code]).toEqual([0, 0, 0]);
    expect(watched.stdout).toBe(drove.stdout);
    expect(watched.stderr).toMatch(/^state +working, iteration 1 of 20, turn 1 running for /m);
    const after = (text: string): string[] => {
      // Each beats when it has been silent itself.
      const lines = text
        .split("\n")
        .map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))
        .filter((line) => !line.startsWith("  still "));
      return lines.slice(lines.findIndex((line) => line.startsWith("iteration 2 of")));
    };
    // Facts and stream come from two files; on a busy machine two lines of one moment may change places.
    expect(after(watched.stderr).toSorted()).toEqual(after(drove.stderr).toSorted());
    expect(after(watched.stderr).at(-2)).toBe(after(drove.stderr).at(-2));
    const all = (await place.pawl("logs", "--facts", "--json")).facts();
    expect(facts.facts()).toEqual(all);

    const again = await place.pawl("watch", "--from", "start");
    expect(again.stderr).toContain("→ Bash");
    expect([again.code, again.stdout]).toEqual([0, drove.stdout]);
    expect(existsSync(join(place.repository.path, "work.txt"))).toBe(true);
  });

  it("says that nobody drives a run, and waits until somebody does", async () => {
    const { place, recording } = await recorded();
    await recording.release();
    const once = await place.pawl("watch", "--once");
    expect([once.code, once.stdout]).toEqual([4, ""]);
    expect(once.stderr).toContain("nobody drives this run now\n");
    expect(once.stderr).toContain(`pawl resume ${RUN}`);

    const waiting = place.start(["watch", "--verbose"]);
    await waitFor(() => waiting.stderr().includes("waiting until somebody does"), { what: "a word about it" });
    const owned = await recording.handle.journal.own(RUN, currentOwner());
    await waitFor(() => waiting.stderr().includes("somebody drives it again"), { what: "the driver" });
    const outcome = { is: "exhausted", rule: "budget:usd", reason: "limit on usd reached" } as const;
    await owned.append([{ type: "run-end", outcome }], { at: Date.now(), elapsed: 60_000 });
    await owned.release();
    const { code, stdout, stderr } = await waiting.done;
    expect([code, stdout]).toEqual([3, "exhausted pawl/x\n"]);
    expect(stderr).toContain("exhausted: limit on usd reached");
    recording.close();
  });
});
