/** `pawl run --agent messages` through the built command line: the bare API, its tools in the fence, on the stand-in model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { killedAndSteered, refusesAll, RUN_LIMIT_MS } from "../support/agent-run.ts";
import { directivesTable } from "../support/directives.ts";

const FLAGS = ["--agent", "messages", "--model", "claude-sonnet-5-5"];
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const write = (path: string, content: string): Step => ({
  tools: [{ name: "Write", input: { file_path: path, content } }],
});

directivesTable({
  name: "messages",
  models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
  shell: bash,
  gaps: [],
});

it(
  "goes from red to green, is killed in the middle and gone on with, and hears what is said, with no key inside",
  async () => {
    const look = "(env; cat /proc/[0-9]*/environ; find / -name journal.db; cat /etc/hostname) > seen.txt 2>&1";
    const { place } = await killedAndSteered({
      flags: FLAGS,
      shell: bash,
      first: [write("work.txt", "wrong\n"), bash(look)],
    });
    const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
    expect(seen).toContain("PAWL_RUN=");
    expect(seen).not.toContain(place.env["ANTHROPIC_API_KEY"]);
    expect(seen).not.toContain("journal.db");
  },
  RUN_LIMIT_MS,
);

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  await refusesAll({
    flags: FLAGS,
    refusals: [
      [["--tools", "Telepathy"], "--tools Telepathy"],
      [["--permissions", "yolo"], "--permissions"],
      [["--mcp", "servers.json"], "--mcp"],
      [["--effort", "heroic"], "--effort"],
      [["--agent-bin", "/no/such"], "--agent-bin"],
      [["--", "--yolo"], "--: the messages agent"],
    ],
    without: { env: { ANTHROPIC_API_KEY: "" }, told: "ANTHROPIC_API_KEY is not set" },
  });
});
