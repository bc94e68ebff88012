/** `pawl run --agent opencode` through the built command line: the real program, in the fence, on the stand-in model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OPENCODE_GAPS } from "../../src/agents/opencode.ts";
import { killedAndSteered, refusesAll, RUN_LIMIT_MS } from "../support/agent-run.ts";
import { GATE } from "../support/cli.ts";
import { directivesTable } from "../support/directives.ts";
import { bash, shortList, write } from "../support/opencode.ts";

const MODEL = "anthropic/claude-sonnet-4-5";
const FLAGS = ["--agent", "opencode", "--model", MODEL];

directivesTable({
  name: "opencode",
  models: { first: MODEL, second: "anthropic/claude-haiku-4-5" },
  shell: bash,
  gaps: OPENCODE_GAPS,
});

it(
  "goes from red to green, is killed in the middle and gone on with, and hears what is said, with no key inside",
  async () => {
    const look = "(env; cat /proc/[0-9]*/environ; find / -name auth.json -exec cat {} +) > seen.txt 2>&1";
    const { place } = await killedAndSteered({
      flags: [...FLAGS, "--env", "OPENCODE_MODELS_PATH"],
      // The run of the directives has opencode's own list.
      env: ({ repository }) => shortList(join(repository.path, `${GATE}models.json`)),
      shell: bash,
      first: [write("work.txt", "wrong\n"), bash(look)],
    });
    const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
    expect(seen).toContain("OPENCODE_CONFIG_CONTENT=");
    expect(seen).not.toContain(place.env["ANTHROPIC_API_KEY"]);
  },
  RUN_LIMIT_MS,
);

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  await refusesAll({
    flags: FLAGS,
    refusals: [
      [["--tools", "Telepathy"], "--tools Telepathy"],
      [["--permissions", "yolo"], "--permissions"],
      [["--agent-bin", "/no/such/opencode"], "--agent-bin /no/such/opencode"],
      [["--model", "openai/gpt-5"], "no login for openai"],
      [["--agent-server", "http://127.0.0.1:1"], "--agent-server"],
      [["--", "--yolo"], "--: opencode"],
    ],
    without: { env: { ANTHROPIC_API_KEY: "" }, told: "opencode has no login" },
  });
});
