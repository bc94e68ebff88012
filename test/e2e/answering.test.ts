/** The real Claude Code asks, waits, and is answered by `pawl answer` from another terminal. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { liveRun } from "../support/live-run.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
/** No edit that Claude Code's mode accepts by itself. */
const making = (name: string, content: string): Step => bash(`node -e 'fs.writeFileSync("${name}", "${content}")'`);
const RUN = ["run", "make made.txt good", "--check", "grep -q good made.txt"];

describe.concurrent("Claude Code", () => {
  it("asks to use a tool, is told why not, asks for another, and does that one", async ({ expect }) => {
    const place = await cliPlace({
      script: byIteration({ 1: [making("never.txt", "bad"), making("made.txt", "good"), { text: CLAIM }] }),
    });
    const running = place.start([...RUN, "--on-permission", "ask"]);
    const live = await liveRun({ state: place.state, env: place.env });
    const asked = await live.nth("human-requested");
    expect(asked).toMatchObject({ kind: "permission", text: expect.stringContaining("never.txt"), turn: 1 });
    expect((await place.pawl("answer", live.run, asked.question, "deny", "mind the quokka")).code).toBe(0);
    const second = await live.nth("human-requested", 2);
    expect(second.text).toContain("made.txt");
    expect((await place.pawl("answer", live.run, second.question, "allow")).code).toBe(0);
    expect((await running.done).code).toBe(0);
    expect(existsSync(join(place.repository.path, "never.txt"))).toBe(false);
    expect(place.repository.git("show", "HEAD:made.txt")).toBe("good");
    expect(place.sent().join("\n")).toContain("mind the quokka");
    expect(await live.of("turn-start")).toHaveLength(1);
    expect((await live.of("human-answered")).map(({ by }) => by)).toEqual(["person", "person"]);
  });

  it("asks which way, and the answer is in its conversation", async ({ expect }) => {
    const options = ["red", "blue"].map((label) => ({ label, description: `paint it ${label}` }));
    const questions = [{ question: "Which colour?", header: "Colour", multiSelect: false, options }];
    const place = await cliPlace({
      script: byIteration({
        1: [
          { tools: [{ name: "AskUserQuestion", input: { questions } }] },
          bash("echo good > made.txt"),
          { text: CLAIM },
        ],
      }),
    });
    const running = place.start([...RUN, "--questions", "ask"]);
    const live = await liveRun({ state: place.state, env: place.env });
    const asked = await live.nth("human-requested");
    expect(asked).toMatchObject({ kind: "question", options: ["red", "blue"], turn: 1 });
    expect((await place.pawl("answer", live.run, asked.question, "2")).code).toBe(0);
    expect((await running.done).code).toBe(0);
    expect(place.sent().join("\n")).toContain(String.raw`\"Which colour?\"=\"blue\"`);
  });

  it("that is stopped while it waits for a person ends at once, and nothing was done", async ({ expect }) => {
    const place = await cliPlace({ script: byIteration({ 1: [making("never.txt", "bad"), { text: "No." }] }) });
    const running = place.start([...RUN, "--on-permission", "ask"]);
    const live = await liveRun({ state: place.state, env: place.env });
    await live.nth("human-requested");
    expect((await place.pawl("stop", live.run, "--now")).code).toBe(0);
    expect((await running.done).code).toBe(1);
    expect((await live.of("turn-end")).map(({ outcome }) => outcome.is)).toEqual(["interrupted"]);
    expect((await live.of("human-answered")).map(({ by }) => by)).toEqual(["turn-ended"]);
    expect(existsSync(join(place.repository.path, "never.txt"))).toBe(false);
  });
});
