/** The package as npm installs it: what is packed, imported from plain JavaScript, its types from TypeScript, and its command. */
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { registryOf } from "../support/registry.ts";
import { tempDir, tempRepository, writeFiles } from "../support/temp.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MODULES = join(ROOT, "node_modules");
const NODE = join(MODULES, ".bin/node");
const LIMIT_MS = 150_000;

/** What the package says it needs. */
const NEEDED = ["@pydantic/genai-prices", "yaml"];
/** And what its users' compiler needs. */
const FOR_TYPES = ["@types", "undici-types"];

const project = tempDir("package");
let tarball = "";
const env = {
  PATH: `${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}`,
  HOME: tempDir("home"),
  PAWL_HOME: join(tempDir("state"), "pawl"),
  GIT_CONFIG_NOSYSTEM: "1",
};
const sh = (command: string, args: string[], cwd = project): string =>
  execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: "pipe", timeout: LIMIT_MS });

beforeAll(() => {
  const packed = tempDir("packed");
  // Without scripts: the build that is tested is packed, not made anew.
  sh("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", packed], ROOT);
  const [file = ""] = readdirSync(packed);
  tarball = join(packed, file);
  const home = join(project, "node_modules/pawl");
  mkdirSync(home, { recursive: true });
  mkdirSync(join(project, "node_modules/@pydantic"));
  sh("tar", ["-xzf", tarball, "-C", home, "--strip-components=1"]);
  for (const name of [...NEEDED, ...FOR_TYPES]) symlinkSync(join(MODULES, name), join(project, "node_modules", name));
  writeFileSync(join(project, "package.json"), '{ "type": "module", "private": true }\n');
});

const PROGRAM = `import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, scripted, UsageError } from "pawl";

const agent = scripted(({ workspace }) => {
  writeFileSync(join(workspace, "a.txt"), "two\\n");
  return { text: "<promise>COMPLETE</promise>" };
});
const handle = await run({ goal: "two", agent, checks: ["grep -q two a.txt"], cwd: process.argv[2] });
const { outcome, branch } = await handle.outcome;
const refused = await run({ goal: "" }).catch((error) => error instanceof UsageError);
console.log(outcome.is, branch, refused);
`;

const TYPED = `import { open, resume, run, type Agent, type Fact, type IterationState, type OwnCheck, type RunEnd } from "pawl";

const check: OwnCheck = { name: "x", judge: ({ path }) => (path === "" ? { pass: true } : { pass: false, message: "m" }) };
declare const agent: Agent;
export async function main(): Promise<RunEnd> {
  const handle = await run({
    goal: "g",
    agent,
    checks: [check, "npm test", { run: "make", required: false }],
    maxCost: 5,
    maxTime: "2h",
    untilGreen: true,
    ladder: ["hint", "stop"],
    env: ["CI"],
    onIteration: async (state: IterationState) => (state.unchanged > 2 ? { say: "h", model: "m" } : undefined),
  });
  for await (const fact of handle.events) {
    const one: Fact = fact;
    if (one.type === "check-end" && one.verdict.is === "fail") console.log(one.verdict.failures[0].message);
  }
  await handle.budget({ usd: 3 });
  await (await resume(handle.id, { limits: { iterations: 3 }, onIteration: () => ({ stop: true }) })).stop({ when: "now" });
  const { goal } = (await (await open(handle.id)).state()).spec;
  // @ts-expect-error -- a misspelt limit is no limit
  await run({ goal, maxCots: 5 });
  // @ts-expect-error -- an answer that means nothing
  await run({ goal, onIteration: () => ({ tell: "x" }) });
  // @ts-expect-error -- words are texts
  await handle.say(5);
  return await handle.outcome;
}
`;

describe("the packed package", () => {
  it("runs from plain JavaScript, and its command line says its version", () => {
    writeFiles(project, { "program.js": PROGRAM });
    const repository = tempRepository({ "a.txt": "one\n" });
    expect(sh(NODE, ["program.js", repository.path]).trim()).toBe("verified pawl/two true");
    expect(sh(NODE, ["node_modules/pawl/dist/views/cli/main.js", "--version"])).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("has types that a strict TypeScript program compiles against, and that refuse what is wrong", () => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2024",
      types: ["node"],
      // What is packed has to be right by itself, whatever is not installed beside it.
      skipLibCheck: false,
    };
    writeFiles(project, {
      "typed.ts": TYPED,
      "tsconfig.json": JSON.stringify({ compilerOptions, files: ["typed.ts"] }),
    });
    expect(sh(join(MODULES, ".bin/tsc"), ["-p", "."])).toBe("");
  });
});

/** Installed by npm for all projects, with nothing of this checkout around it. */
describe("the packed package, installed by npm in an empty prefix", () => {
  const SDK = "@anthropic-ai/claude-agent-sdk";
  const PROGRAM = `${SDK}-${process.platform}-${process.arch}`;
  const prefix = tempDir("prefix");
  const shared = join(prefix, "lib/node_modules");
  const onPath = tempDir("programs");

  beforeAll(async () => {
    const url = await registryOf(MODULES, NEEDED);
    const args = ["install", "-g", "--prefix", prefix, "--registry", url, "--no-audit", "--no-fund", tarball];
    await promisify(execFile)("npm", args, { env, timeout: LIMIT_MS });
    symlinkSync(join(MODULES, "node/bin/node"), join(onPath, "node"));
  });

  /** Everything of the system, this Node, and `more`. */
  async function pawl(
    args: string[],
    { more = [], cwd = tempDir("anywhere") }: { more?: string[]; cwd?: string } = {},
  ) {
    const path = [join(prefix, "bin"), onPath, ...more, "/usr/bin", "/bin"].join(":");
    const own = { ...env, PATH: path, TMPDIR: tempDir("tmp"), ANTHROPIC_API_KEY: "key" };
    return await promisify(execFile)("pawl", args, { cwd, env: own, timeout: LIMIT_MS }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }

  interface Finding {
    name: string;
    is: string;
    says: string;
    fix?: string;
  }
  /** `pawl doctor` in a clean repository: all that it is not content with. */
  async function complaints(more: string[] = []): Promise<Finding[]> {
    const cwd = tempRepository({ "a.txt": "one\n" }).path;
    const { stdout } = await pawl(["doctor", "--json"], { more, cwd });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(findings.map(({ name }) => name)).toContain("claude");
    return findings.filter(({ is }) => is !== "ok");
  }

  it("installs no package whose code is part of it, and no types but those of its own API", () => {
    expect(readdirSync(join(shared, "pawl/node_modules")).toSorted()).toEqual([".bin", "@pydantic", "yaml"]);
    const types = readdirSync(join(shared, "pawl/dist"), { recursive: true, encoding: "utf8" });
    expect(types.filter((name) => name.endsWith(".d.ts")).length).toBeLessThan(160);
  });

  it("without Claude Code says the one line that brings it to this prefix, and touches no repository (I1)", async () => {
    const [claude, ...more] = await complaints();
    expect(more).toEqual([]);
    expect(claude).toMatchObject({ name: "claude", is: "fail" });
    expect(claude?.fix).toMatch(new RegExp(`^npm install -g --prefix ${prefix} ${SDK}@[\\d.]+$`));
    const { code, stderr } = await pawl(["demo"]);
    expect(code).toBe(2);
    expect(stderr.trimEnd().split("\n").at(-1)?.trim()).toBe(claude?.fix);
  });

  it("does the demo's job with nothing but `claude` in the PATH (I1)", async () => {
    const folder = tempDir("claude");
    symlinkSync(join(MODULES, PROGRAM, "claude"), join(folder, "claude"));
    expect(await complaints([folder])).toEqual([]);
    const { stdout, stderr } = await pawl(["demo", "--no-keep"], { more: [folder] });
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^verified pawl\/\S+\n$/), expect.any(String)]);
    expect(stderr).toContain("fenced: bwrap");
  });

  it("does the demo's job with the Agent SDK beside it, whose program lies in the SDK's own folder (I1)", async () => {
    const beside = join(shared, SDK);
    const program = join(beside, "node_modules", PROGRAM);
    cpSync(join(MODULES, SDK), beside, { recursive: true });
    mkdirSync(program, { recursive: true });
    copyFileSync(join(MODULES, PROGRAM, "package.json"), join(program, "package.json"));
    symlinkSync(join(MODULES, PROGRAM, "claude"), join(program, "claude"));
    expect(await complaints()).toEqual([]);
    const { stdout, stderr } = await pawl(["demo", "--no-keep"]);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^verified pawl\/\S+\n$/), expect.any(String)]);
  });

  it("warns of a `claude` in the PATH that it is not tested with, and of one that does not start (I1)", async () => {
    rmSync(join(shared, SDK), { recursive: true, force: true });
    const other = tempDir("other");
    const program = (text: string): void => writeFileSync(join(other, "claude"), text, { mode: 0o755 });
    program("#!/bin/sh\necho '1.0.0 (Claude Code)'\n");
    expect(await complaints([other])).toMatchObject([
      { name: "claude", is: "warn", says: expect.stringContaining("1.0.0 is not the version") },
    ]);
    program("#!/bin/sh\nexit 3\n");
    expect(await complaints([other])).toMatchObject([{ name: "claude", is: "fail" }]);
  });
});
