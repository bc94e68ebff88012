/** What the real Claude Code may do, and what it says of its work by a call, in runs through the built command line. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, cliPlace } from "../support/cli.ts";
import { tempDir } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const done = (status: string, summary: string): Step => ({
  tools: [{ name: "mcp__pawl__done", input: { status, summary } }],
});
const CHECK = ["--check", "grep -q good made.txt"];

describe.concurrent("a structured call", () => {
  it("that says done ends the run verified, without any promise in the text", async ({ expect }) => {
    const { pawl, repository } = await cliPlace({
      script: byIteration({ 1: [bash("echo good > made.txt"), done("done", "made.txt is good"), { text: "Bye." }] }),
    });
    const result = await pawl("run", "make made.txt good", ...CHECK, "--json");
    expect(result.of("turn-end").map(({ claim }) => claim)).toEqual([
      { is: "done", how: "call", text: "made.txt is good" },
    ]);
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(result.code).toBe(0);
    expect(repository.git("show", "HEAD:made.txt")).toBe("good");
  });

  it("that says done while a check is red sends the agent back with the evidence", async ({ expect }) => {
    const { pawl, sent, repository } = await cliPlace({
      script: byIteration({
        1: [bash("echo bad > made.txt"), done("done", "all is well"), { text: "Bye." }],
        2: [bash("echo good > made.txt"), done("done", "now it is"), { text: "Bye." }],
      }),
    });
    const result = await pawl("run", "make made.txt good", ...CHECK, "--json");
    expect(result.of("check-end").map(({ verdict }) => verdict.is)).toEqual(["fail", "pass"]);
    expect(result.of("decision-made").map(({ next }) => next)).toEqual(["continue", "end"]);
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    const second = sent().find((body) => body.includes("Iteration 2 ")) ?? "";
    expect(second).toContain("grep -q good made.txt");
    expect(repository.git("show", "HEAD:made.txt")).toBe("good");
  });
});

describe.concurrent("permissions", () => {
  it("are denied by policy: nothing runs, the model learns why, the run goes on", async ({ expect }) => {
    const { pawl, sent, repository } = await cliPlace({
      script: byIteration({
        1: [bash('node -e \'fs.writeFileSync("made.txt", "bad")\''), { text: "I may not." }],
      }),
    });
    const flags = ["--on-permission", "deny", "--max-iterations", "1"];
    const result = await pawl("run", "make made.txt good", ...CHECK, ...flags, "--json");
    expect(result.of("turn-end").map(({ outcome, tools }) => [outcome.is, tools])).toEqual([["done", [["Bash", 1]]]]);
    expect(existsSync(join(repository.path, "made.txt"))).toBe(false);
    expect(sent().join("\n")).toContain("Not allowed: pawl's policy denies");
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["exhausted"]);
    expect(result.stderr).not.toContain("Warning");
  });

  it("under deny let edits of the workspace through, and the call; edits elsewhere and commands are denied", async ({
    expect,
  }) => {
    const outside = join(tempDir("outside"), "other.txt");
    const write: Step = { tools: [{ name: "Write", input: { file_path: "made.txt", content: "good\n" } }] };
    const { pawl, repository, sent } = await cliPlace({
      script: byIteration({
        1: [
          write,
          { tools: [{ name: "Write", input: { file_path: outside, content: "x\n" } }] },
          bash('node -e \'fs.writeFileSync("other.txt", "")\''),
          done("done", "as far as I may"),
          { text: "Bye." },
        ],
      }),
    });
    const flags = ["--on-permission", "deny"];
    const result = await pawl("run", "make made.txt good", ...CHECK, ...flags, "--json");
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(repository.git("ls-files")).toBe("made.txt\nreadme.md");
    // In the fence neither would have left a file that a test could see.
    expect(
      sent()
        .at(-1)
        ?.match(/Not allowed: pawl's policy denies/g),
    ).toHaveLength(2);
  });

  it.for([
    [["--on-permission", "ask", "--permissions", "bypassPermissions"], "contradicts --permissions bypassPermissions"],
    [["--questions", "ask", "--permissions", "dontAsk"], "contradicts --permissions dontAsk"],
    [["--mcp", "servers.json"], "has a server named pawl"],
    [["--mcp", "none.json"], "none.json cannot be read"],
    [["--", "--mcp-config", "x.json"], "use pawl's own --mcp"],
  ] as const)("are not contradicted: %j is refused before anything is spent", async ([args, words], { expect }) => {
    const { pawl, repository, standin } = await cliPlace({ script: { steps: [{ text: "no" }] } });
    writeFileSync(join(repository.path, ".git/info/exclude"), "servers.json\n");
    writeFileSync(join(repository.path, "servers.json"), '{"mcpServers":{"pawl":{"command":"false"}}}');
    const result = await pawl("run", "make it good", "--check", "true", ...args);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(words);
    expect(standin?.requests).toEqual([]);
    expect(repository.git("branch", "--list", "pawl/*")).toBe("");
  });
});
