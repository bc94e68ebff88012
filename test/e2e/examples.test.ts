/** The examples as their readers run them: `node loop.ts` in a repository, with the real Claude Code on the stand-in. */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../examples");
const NODE = resolve(import.meta.dirname, "../../node_modules/.bin/node");
const LIMIT_MS = 50_000;

interface Ended {
  code: number | null;
  output: string;
}

/** `typed`: what a person types once a line with these words has been printed. */
async function runExample(
  name: string,
  {
    place,
    args,
    env = {},
    typed,
  }: { place: CliPlace; args: string[]; env?: Record<string, string>; typed?: [string, string] },
): Promise<Ended> {
  const child = spawn(NODE, [join(EXAMPLES, name), ...args], {
    cwd: place.repository.path,
    env: { ...place.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  let output = "";
  let isTyped = false;
  const take = (text: string): void => {
    output += text;
    if (typed === undefined || isTyped || !output.includes(typed[0])) return;
    isTyped = true;
    child.stdin.write(`${typed[1]}\n`);
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  const code = await new Promise<number | null>((ended) => child.once("close", ended));
  clearTimeout(limit);
  return { code, output };
}

const write = (text: string): Step => ({
  tools: [{ name: "Bash", input: { command: `printf '${text}' > done.txt`, description: "write" } }],
});
const GOAL = "Make done.txt say yes.";
const CHECK = "done=grep -q yes done.txt";
const BRANCH = "pawl/make-done-txt-say-yes";

describe("examples", () => {
  it("plain-loop: works until the check passes, prints each iteration, and leaves the work on a branch", async () => {
    const script = byIteration({ 1: [{ text: "I look around." }], 2: [write("yes"), { text: CLAIM }] });
    const place = await cliPlace({ script });
    const { code, output } = await runExample("plain-loop/loop.ts", { place, args: [GOAL, CHECK] });
    expect([code, output]).toEqual([0, expect.stringContaining(`verified on ${BRANCH}`)]);
    expect(output).toMatch(/ {2}done: fail\niteration 1: .*\n {2}done: pass\niteration 2: /);
    expect(place.repository.git("show", `${BRANCH}:done.txt`)).toBe("yes");
  });

  it("plain-loop: without a login it says so, and changes nothing", async () => {
    const place = await cliPlace({});
    const { code, output } = await runExample("plain-loop/loop.ts", { place, args: [GOAL, CHECK] });
    expect(code).toBe(1);
    expect(output).toContain("UsageError: Claude Code has no login");
    expect(place.repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  });

  it("orchestrator: a hint when nothing changes, then another model, and what a person typed, each in the next iteration", async () => {
    const idle: Step[] = [{ text: "I think about it." }];
    const script = byIteration({
      1: idle,
      2: idle,
      3: idle,
      4: [write("yes"), { text: "Written." }],
      5: [{ text: CLAIM }],
    });
    const place = await cliPlace({ script });
    const { code, output } = await runExample("orchestrator/orchestrator.ts", {
      place,
      args: [GOAL, CHECK],
      env: { ORCHESTRATOR_HINT: "[hint: use printf]", ORCHESTRATOR_MODEL: "claude-opus-4-5" },
      typed: ["iteration 3:", "say [word of a person]"],
    });
    expect([code, output]).toEqual([0, expect.stringContaining(`verified on ${BRANCH}`)]);
    const prompts = place.sent();
    const firstWith = (words: string): number | undefined =>
      Number(/Iteration (\d+) (?!.*Iteration \d+ )/s.exec(prompts.find((body) => body.includes(words)) ?? "")?.[1]);
    expect(firstWith("[hint: use printf]")).toBe(3);
    expect(firstWith("[word of a person]")).toBe(5);
    const models = place.standin?.requests
      .filter(({ path }) => path.startsWith("/v1/messages"))
      .map(({ model }) => model);
    expect(models?.[0]).not.toBe("claude-opus-4-5");
    expect(models?.at(-1)).toBe("claude-opus-4-5");
  });
});
