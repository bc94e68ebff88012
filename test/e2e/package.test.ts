/** The package as npm would install it: what is packed, imported from plain JavaScript, and its types from TypeScript. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tempDir, tempRepository, writeFiles } from "../support/temp.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MODULES = join(ROOT, "node_modules");
const NODE = join(MODULES, ".bin/node");
const LIMIT_MS = 150_000;

/** What the package says it needs, and what its users' compiler needs. */
const NEEDED = ["@pydantic", "commander", "yaml", "zod", "@types", "undici-types"];

const project = tempDir("package");
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
  const [tarball = ""] = readdirSync(packed);
  const home = join(project, "node_modules/pawl");
  mkdirSync(home, { recursive: true });
  sh("tar", ["-xzf", join(packed, tarball), "-C", home, "--strip-components=1"]);
  for (const name of NEEDED) symlinkSync(join(MODULES, name), join(project, "node_modules", name));
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
      skipLibCheck: true,
    };
    writeFiles(project, {
      "typed.ts": TYPED,
      "tsconfig.json": JSON.stringify({ compilerOptions, files: ["typed.ts"] }),
    });
    expect(sh(join(MODULES, ".bin/tsc"), ["-p", "."])).toBe("");
  });
});
