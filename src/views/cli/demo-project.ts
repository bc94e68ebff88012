/** What `pawl demo` works on: a small repository with failing tests, and the script of the model that mends it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../platform/faults.ts";
import type { ScriptFile } from "../../standin/script.ts";

const MODULE = "slug.js";
const GIT_TIMEOUT_MS = 30_000;

export const DEMO_GOAL = "Implement slug() in slug.js so that all tests pass.";
export const DEMO_CHECK = "tests=node --test";

const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "slug", "private": true, "type": "module" }\n',
  [MODULE]: `/** Turns a title into a part of a URL. */
export function slug(title) {
  throw new Error("not written yet");
}
`,
  "slug.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "./slug.js";

test("joins words with dashes", () => assert.equal(slug("Hello World"), "hello-world"));
test("drops punctuation", () => assert.equal(slug("What's new, doc?"), "whats-new-doc"));
test("has no dash at the ends", () => assert.equal(slug("  To be - or not  "), "to-be-or-not"));
`,
};

const FIRST_ATTEMPT = `/** Turns a title into a part of a URL. */
export function slug(title) {
  return title.toLowerCase().replaceAll(" ", "-");
}
`;
const SOLUTION = `/** Turns a title into a part of a URL. */
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9\\s-]/g, "")
    .trim()
    .replace(/[\\s-]+/g, "-");
}
`;

/** Makes the repository with one commit. */
export function makeProject(dir: string, env: Readonly<Record<string, string | undefined>>): void {
  mkdirSync(dir, { recursive: true });
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(dir, name), content);
  const git = (...args: string[]): void => {
    fault("spawn");
    execFileSync("git", args, { cwd: dir, env: { ...env }, stdio: "ignore", timeout: GIT_TIMEOUT_MS });
  };
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Demo");
  git("config", "user.email", "demo@localhost");
  git("add", "-A");
  git("commit", "-q", "-m", "A function to write, and its tests");
}

/** A wrong attempt, a false claim, the solution. */
export function demoScript(dir: string): ScriptFile {
  const file = join(dir, MODULE);
  const read = { name: "Read", input: { file_path: file } };
  const write = (content: string) => ({ name: "Write", input: { file_path: file, content } });
  return {
    marker: "Iteration \\d+",
    rules: [
      {
        when: { promptIncludes: "Iteration 1" },
        steps: [
          {
            text: "I look at the function and its tests.",
            tools: [read, { name: "Read", input: { file_path: join(dir, "slug.test.js") } }],
          },
          { text: "Lower case, and dashes for blanks.", tools: [write(FIRST_ATTEMPT)] },
          { text: "I wrote a first version." },
        ],
      },
      {
        when: { promptIncludes: "Iteration 2" },
        steps: [{ text: "This should be fine as it is.\n\n<promise>COMPLETE</promise>" }],
      },
      {
        when: { promptIncludes: "Iteration 3" },
        steps: [
          { text: "The checks are right: punctuation stays and blanks at the ends become dashes.", tools: [read] },
          { text: "I drop what is no letter or digit first.", tools: [write(SOLUTION)] },
          { text: "All three tests are covered now.\n\n<promise>COMPLETE</promise>" },
        ],
      },
    ],
    steps: [{ text: "There is nothing left to do." }],
  };
}
