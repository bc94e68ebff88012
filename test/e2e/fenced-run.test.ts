/** What a run says and does about its fence: which one, with which login, and where there is none. */
import { execFile } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeProgram } from "../../src/agents/claude/program.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, CLI, cliPlace, NODE, type CliPlace } from "../support/cli.ts";
import { writeFiles } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const makes = byIteration({ 1: [bash("echo x > made.txt"), { text: CLAIM }] });
const MAKES = { 1: ["echo x > made.txt", CLAIM] } as const;
const RUN = ["run", "make made.txt", "--check", "test -f made.txt"];
const SECRET = "test-key-of-the-stand-in";

describe.concurrent("a login", () => {
  const looks = byIteration({
    1: [
      bash(
        "(env; cat /proc/[0-9]*/environ; cat ~/.claude/.credentials.json $CLAUDE_SECURESTORAGE_CONFIG_DIR/.credentials.json; find / -name '.credentials.json' 2>/dev/null -exec cat {} +) > seen.txt 2>&1; echo looked >> seen.txt",
      ),
      { text: CLAIM },
    ],
  });
  const STORED = { claudeAiOauth: { accessToken: SECRET, refreshToken: "r", expiresAt: Date.now() + 3_600_000 } };

  it.for([
    ["ANTHROPIC_API_KEY", {}],
    ["ANTHROPIC_AUTH_TOKEN", { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: SECRET }],
    ["CLAUDE_CODE_OAUTH_TOKEN", { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: SECRET }],
    ["the stored one", { ANTHROPIC_API_KEY: "" }],
  ] as const)("%s reaches the model and is nowhere inside the fence (A5)", async ([name, env], { expect }) => {
    const place = await cliPlace({ script: looks, env });
    if (name === "the stored one")
      writeFiles(place.home, {
        ".claude/.credentials.json": JSON.stringify({
          claudeAiOauth: { ...STORED.claudeAiOauth, scopes: ["user:inference"], subscriptionType: "max" },
        }),
      });
    const result = await place.pawl("run", "look", "--check", "grep -q looked seen.txt", "--json");
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    // The stand-in answers 401 to any other key.
    expect(new Set(place.standin?.requests.map(({ status }) => status))).toEqual(new Set([200]));
    const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
    expect(seen).toContain("ANTHROPIC_BASE_URL=");
    expect(seen).not.toContain(SECRET);
    if (name === "the stored one") expect(seen).toContain("CLAUDE_CODE_SUBSCRIPTION_TYPE=max");
  });

  it("that only the program itself can use is refused, with what to do", async ({ expect }) => {
    const place = await cliPlace({ script: makes, env: { CLAUDE_CODE_USE_BEDROCK: "1", AWS_REGION: "eu-west-1" } });
    const { code, stderr } = await place.pawl(...RUN);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("which no fence lets it: Amazon Bedrock (CLAUDE_CODE_USE_BEDROCK)"),
    ]);
    expect(stderr).toContain("--fence none");
  });
});

it("shows a program that lies in the home, private to its owner, and nothing beside it", async () => {
  const script = byIteration({
    1: [bash('echo "[$SECRET_FILE]"; cat "$SECRET_FILE" > made.txt; echo x >> made.txt'), { text: CLAIM }],
  });
  const place = await cliPlace({ script });
  const [bin, beside] = [join(place.home, "my-claude"), join(place.home, "notes.txt")];
  writeFileSync(bin, `#!/bin/sh\nexec '${claudeProgram({}, {})}' "$@"\n`, { mode: 0o700 });
  writeFileSync(beside, SECRET);
  chmodSync(place.home, 0o700);
  const env = { SECRET_FILE: beside };
  const { code, stdout } = await place.start([...RUN, "--agent-bin", bin, "--env", "SECRET_FILE"], { env }).done;
  expect([code, stdout]).toEqual([0, "verified pawl/make-made-txt\n"]);
  expect(place.sent().at(-1)).toContain(`[${beside}]`);
  expect(readFileSync(join(place.repository.path, "made.txt"), "utf8")).toBe("x\n");
});

it("names the fence in the header, the summary, status, show and the evidence", async () => {
  const { pawl } = await cliPlace({ shellAgent: MAKES });
  const result = await pawl(...RUN);
  const words = "fenced: bwrap: own namespaces, a home of its own, writes only in the workspace, no network";
  expect(result.stderr.split("\n")).toContain(`  ${words}`);
  expect(result.stderr.split("\n")).toContain(`  isolation   ${words}`);
  expect((await pawl("status")).stdout).toMatch(/^isolation +fenced: bwrap/m);
  expect((await pawl("show")).stdout).toContain(words);
  expect((await pawl("show", "--verdict")).stdout).toMatch(/isolation +(overlay|copy).*, bwrap: own namespaces/);
  const { fence } = JSON.parse((await pawl("status", "--json")).stdout) as { fence: { kind: string } };
  expect(fence.kind).toBe("bwrap");
});

it("says so where it runs unfenced because it was told to", async () => {
  const { pawl } = await cliPlace({ shellAgent: MAKES });
  const result = await pawl(...RUN, "--fence", "none");
  const words = "unfenced: the agent and the checks";
  expect(result.stderr.split("\n")).toEqual(
    expect.arrayContaining([`  ${words} run with your rights`, `  isolation   ${words} ran with your rights`]),
  );
});

/** The command line where no program may make namespaces, as in many containers. */
async function withoutNamespaces(
  { env, repository }: CliPlace,
  ...args: string[]
): Promise<{ code: number; stderr: string }> {
  const held = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns", "--dev-bind", "/", "/"];
  return await new Promise((resolve) => {
    execFile("/usr/bin/bwrap", [...held, NODE, CLI, ...args], { cwd: repository.path, env }, (error, _, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stderr });
    });
  });
}

it("goes on only with the fence it began with, and runs unfenced only where nobody asked for one", async () => {
  const place = await cliPlace({ shellAgent: { 1: ["true", "one"], 2: ["true", "two"] } });
  const first = await place.pawl(...RUN, "--max-iterations", "1");
  expect(first.code).toBe(3);
  const other = await place.pawl("resume", "--fence", "none", "--max-iterations", "2");
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('--fence "none" differs: the run has "bwrap"'),
  ]);
  const held = await withoutNamespaces(place, "resume", "--max-iterations", "2");
  expect([held.code, held.stderr]).toEqual([
    2,
    expect.stringContaining("the fence this run began with does not work here any more: bwrap"),
  ]);
  const refused = await withoutNamespaces(place, ...RUN, "--fence", "bwrap", "--current-branch");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--fence bwrap does not work here: ")]);
  const bare = await withoutNamespaces(place, ...RUN, "--max-iterations", "1", "--current-branch");
  expect(bare.stderr).toMatch(
    /^ {2}unfenced: .* \(to get a fence: apt install bubblewrap socat; `pawl doctor --fence` /m,
  );
  const doctor = await withoutNamespaces(place, "doctor", "--fence");
  expect(doctor.code).toBe(5);
  expect((await place.pawl("resume", "--fence", "auto", "--max-iterations", "2")).code).toBe(3);
});

it("does not take a kind that does not work here for another", async () => {
  const { pawl } = await cliPlace({ script: makes });
  const { code, stderr } = await pawl(...RUN, "--fence", "seatbelt");
  expect([code, stderr]).toEqual([2, expect.stringContaining("--fence seatbelt does not work here")]);
});
