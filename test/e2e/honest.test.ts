/**
 * An honest project is not hindered by the fence: its chores are done by the real Claude Code as tool calls, and judged
 * as checks, each in a run of the built command line.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import {
  BROWSER_CHORES,
  BROWSER_FILES,
  MACHINE_CHORES,
  NATIVE_CHORES,
  NATIVE_FILES,
  NODE_CHORES,
  NODE_FILES,
  type Chore,
} from "../fixtures/honest-project.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { toolchains } from "../support/programs.ts";
import { registry } from "../support/registry.ts";

const LIMIT_MS = 400_000;
/** Compilers and browsers take their time where much else runs. */
const CALL_LIMIT_MS = 300_000;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command, timeout: CALL_LIMIT_MS } }] });
const TOOLS = { PATH: `${join(import.meta.dirname, "../../node_modules/.bin")}:${process.env["PATH"] ?? ""}` };

interface Project {
  files: Readonly<Record<string, string>>;
  chores: readonly Chore[];
  flags?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

interface Done {
  place: CliPlace;
  /** Of each chore that went wrong: what it printed for the agent, or what its check said. */
  hindered: Record<string, string>;
  level: string;
}

/** Each chore as a tool call and as a check. */
async function doChores({ files, chores, flags = [], env = {} }: Project): Promise<Done> {
  const said = (name: string): string => `chore ${name} ended with`;
  const place = await cliPlace({
    files: { ...files, ...Object.fromEntries(chores.map(({ name, script }) => [`chores/${name}`, `${script}\n`])) },
    script: byIteration({
      1: [...chores.map(({ name }) => bash(`sh chores/${name} 2>&1; echo "${said(name)} $?"`)), { text: CLAIM }],
    }),
    env: { ...TOOLS, ...env },
  });
  const checks = chores.flatMap(({ name }) => ["--check", `${name}=sh chores/${name}`]);
  const args = ["run", "do the chores", "--fence", "bwrap", "--max-iterations", "1", "--json", ...flags, ...checks];
  const result = await place.start(args, { limitMs: LIMIT_MS }).done;
  const words = place.sent().at(-1) ?? "";
  const hindered: Record<string, string> = {};
  for (const { name } of chores) {
    if (words.includes(`${said(name)} 0`)) continue;
    const at = words.indexOf(said(name));
    hindered[`tool ${name}`] = at < 0 ? `never ended: ${result.stderr}` : words.slice(Math.max(0, at - 600), at + 60);
  }
  // The chores change nothing, so that what was said of the base stands.
  const verdicts = [...result.of("baseline-recorded"), ...result.of("check-end")];
  for (const { check, verdict } of verdicts)
    if (verdict.is !== "pass") hindered[`check ${check}`] = JSON.stringify(verdict).slice(0, 2_000);
  expect(verdicts.length, result.stderr).toBeGreaterThanOrEqual(chores.length);
  const [first] = verdicts;
  return { place, hindered, level: first?.verdict.is === "pass" ? first.verdict.evidence.isolation : "" };
}

it("npm ci from an allowed host, npm test, TypeScript and a server on loopback", { timeout: LIMIT_MS }, async () => {
  const { url, locked, asked } = await registry("1.0.0");
  const project = {
    name: "honest",
    version: "1.0.0",
    dependencies: { tiny: "1.0.0" },
    scripts: { test: "node --test" },
  };
  const lock = {
    name: "honest",
    version: "1.0.0",
    lockfileVersion: 3,
    packages: {
      "": { name: "honest", version: "1.0.0", dependencies: { tiny: "1.0.0" } },
      "node_modules/tiny": locked["1.0.0"],
    },
  };
  const { place, hindered, level } = await doChores({
    files: {
      ...NODE_FILES,
      "package.json": JSON.stringify(project),
      "package-lock.json": JSON.stringify(lock),
      ".npmrc": `registry=${url}/\n`,
    },
    chores: NODE_CHORES,
    flags: ["--allow-host", new URL(url).host],
  });
  expect(hindered).toEqual({});
  expect(level).toMatch(/network: 1 host\b/);
  expect(asked).toContain("/tiny/-/tiny-1.0.0.tgz");
  const logs = await place.pawl("logs");
  expect(logs.stdout).toContain(`network: ${new URL(url).host} let through`);
});

it("Python, C, sanitizers, Rust and Go", { timeout: LIMIT_MS }, async () => {
  // The home of the test has no toolchain in it. Without control groups sanitizers need a high limit.
  const { RUSTUP_HOME } = toolchains();
  const memory = process.getuid?.() === 0 ? {} : { PAWL_MAX_MEMORY: "32000GB" };
  const env = { ...memory, ...(RUSTUP_HOME === undefined ? {} : { RUSTUP_HOME }) };
  const { hindered } = await doChores({ files: NATIVE_FILES, chores: NATIVE_CHORES, env });
  expect(hindered).toEqual({});
});

it("what tests take for granted of a machine", { timeout: LIMIT_MS }, async () => {
  const { hindered } = await doChores({ files: { "readme.md": "hello\n" }, chores: MACHINE_CHORES });
  expect(hindered).toEqual({});
});

it("a browser on a page served inside", { timeout: LIMIT_MS }, async () => {
  const { hindered } = await doChores({ files: BROWSER_FILES, chores: BROWSER_CHORES });
  expect(hindered).toEqual({});
});

it(
  "git inside: a repository to look at, commit to and stash in, which never becomes the user's",
  { timeout: LIMIT_MS },
  async () => {
    const chores = [
      'git status --short && git diff && test -n "$(git log --oneline)" && git show --stat HEAD',
      "echo 1 > one && git add one && git commit -qm one && git log -1 --format=%s | grep -qx one",
      "echo 2 >> one && git stash -q && test $(wc -l < one) = 1 && git stash pop -q && test $(wc -l < one) = 2",
      "git worktree add -q /tmp/tree && test -e /tmp/tree/one && git worktree remove /tmp/tree",
      "git switch -qc other && git branch | grep -q other && git blame readme.md && git grep -q hello",
      "git config --global user.name x && git tag t && git rev-parse t",
    ];
    const place = await cliPlace({
      script: byIteration({
        1: [...chores.map((chore, n) => bash(`{ ${chore}; } 2>&1; echo "chore ${n} ended with $?"`)), { text: CLAIM }],
      }),
    });
    const before = place.repository.git("rev-parse", "HEAD");
    const args = ["run", "make one", "--fence", "bwrap", "--max-iterations", "1", "--check", "made=test -s one"];
    const result = await place.start(args, { limitMs: LIMIT_MS }).done;
    const words = place.sent().at(-1) ?? "";
    for (const [n] of chores.entries()) expect(words).toContain(`chore ${n} ended with 0`);
    expect(result.stdout).toContain("verified");
    const refs = place.repository.git("for-each-ref", "--format=%(refname)").split("\n");
    for (const one of ["refs/heads/other", "refs/tags/t", "refs/stash"]) expect(refs).not.toContain(one);
    expect(place.repository.git("rev-parse", "HEAD~1")).toBe(before);
    expect(place.repository.git("log", "-1", "--format=%s")).not.toBe("one");
  },
);
