/** Scripts that set, empty or throw away the variables by which runners are asked: the report is there all the same. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noAbout } from "../../../test/support/about.ts";
import { memoryBlobs } from "../../../test/support/blobs.ts";
import { isMissing, toolchains } from "../../../test/support/programs.ts";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import { commandCheck } from "../command.ts";

const MODULES = join(import.meta.dirname, "../../../node_modules");
const NODE = process.execPath;
const LIMIT_MS = 600_000;
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const ESM = "--experimental-vm-modules";

/** Works only where the project's own NODE_OPTIONS reach it. */
const JEST = {
  "package.json": '{ "type": "module", "jest": { "transform": {} } }',
  "add.js": "export const add = (a, b) => a + b;",
  "x.spec.js": 'import { add } from "./add.js"; it("adds", () => { expect(add(1, 2)).toBe(3); });',
};
const MOCHA = { "test/x.cjs": 'it("adds", () => { if (process.env.NODE_OPTIONS !== "--no-warnings") throw 1; });' };
const NODE_TEST = {
  "x.test.mjs":
    'import { test } from "node:test"; test("adds", () => { if (process.env.NODE_OPTIONS !== process.env.WANTED) throw process.env; });',
};
const PYTEST = { "test_x.py": "def test_adds():\n    assert 1 + 2 == 3\n" };
const GO = {
  "go.mod": "module example.com/m\n\ngo 1.19\n",
  "x_test.go": 'package m\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n',
};
/** As cross-env and dotenv-cli are: programs of Node that set a variable and start the rest; the second keeps what is set. */
const SETS = {
  "node_modules/cross-env/cross-env.js": `#!/usr/bin/env node
const [pair, ...rest] = process.argv.slice(2); const at = pair.indexOf("=");
require("child_process").spawn(rest[0], rest.slice(1), { stdio: "inherit", env: { ...process.env, [pair.slice(0, at)]: pair.slice(at + 1) } }).on("exit", (code) => process.exit(code));`,
  "node_modules/dotenv-cli/cli.js": `#!/usr/bin/env node
const [name, value] = require("fs").readFileSync(".env", "utf8").trim().split(/=(.*)/s);
if (process.env[name] === undefined) process.env[name] = value;
const [program, ...rest] = process.argv.slice(2);
require("child_process").spawn(program, rest, { stdio: "inherit" }).on("exit", (code) => process.exit(code));`,
};
const scripts = (files: Record<string, string>, test: string): Record<string, string> => ({
  ...files,
  "package.json": JSON.stringify({ ...(JSON.parse(files["package.json"] ?? "{}") as object), scripts: { test } }),
});

interface Case {
  command: string;
  files: Record<string, string>;
  test: string;
  program?: string;
}
const jest = (command: string, files: Record<string, string> = JEST): Case => ({
  command,
  files,
  test: "x.spec.js > adds",
});

const LOST: Record<string, Case> = {
  "a script that sets NODE_OPTIONS": jest("npm test", scripts(JEST, `NODE_OPTIONS=${ESM} jest`)),
  "a value in quotes": jest(`NODE_OPTIONS="${ESM} --no-warnings" jest`),
  export: jest(`export NODE_OPTIONS=${ESM}; jest`),
  env: jest(`env NODE_OPTIONS=${ESM} jest`),
  "env -i": jest(`env -i HOME="$HOME" PATH="$PATH" NODE_OPTIONS=${ESM} jest`),
  "sh -c": jest(`sh -c 'NODE_OPTIONS=${ESM} jest'`),
  "a shell script": jest("sh test.sh", { ...JEST, "test.sh": `set -eu\nexport NODE_OPTIONS=${ESM}\njest "$@"\n` }),
  make: jest("make -s test", { ...JEST, Makefile: `test:\n\t@NODE_OPTIONS=${ESM} npx jest\n` }),
  "a script of Node that starts it": jest("npm test", {
    ...scripts(JEST, `NODE_OPTIONS=${ESM} node start.cjs`),
    "start.cjs":
      'process.exit(require("child_process").spawnSync(process.execPath, [require.resolve("jest/bin/jest")], { stdio: "inherit" }).status);',
  }),
  "node by name": jest(`NODE_OPTIONS= node ${ESM} node_modules/jest/bin/jest.js`),
  "cross-env": jest("npm test", {
    ...scripts(JEST, `node node_modules/cross-env/cross-env.js NODE_OPTIONS=${ESM} jest`),
    ...SETS,
  }),
  "a program that reads .env, and keeps what is set": jest("npm test", {
    ...scripts(JEST, "node node_modules/dotenv-cli/cli.js jest"),
    ...SETS,
    ".env": `NODE_OPTIONS=${ESM}\n`,
  }),
  "node --env-file": {
    command: "WANTED=--no-warnings node --env-file=.env --test",
    files: { ...NODE_TEST, ".env": "NODE_OPTIONS=--no-warnings\n" },
    test: "x.test.mjs > adds",
  },
  "node --test without any options": {
    command: "unset NODE_OPTIONS; node --test",
    files: NODE_TEST,
    test: "x.test.mjs > adds",
  },
  mocha: { command: "NODE_OPTIONS=--no-warnings mocha", files: MOCHA, test: "test/x.cjs > adds" },
  "mocha with options of Node": {
    command: "NODE_OPTIONS=--no-warnings mocha --expose-gc",
    files: MOCHA,
    test: "test/x.cjs > adds",
  },
  vitest: {
    command: "NODE_OPTIONS=--no-warnings vitest run",
    files: {
      "x.test.js":
        'import { it } from "vitest"; it("adds", () => { if (process.env.NODE_OPTIONS !== "--no-warnings") throw 1; });',
    },
    test: "x.test.js > adds",
  },
  "pytest with options of the script": {
    command: "PYTEST_ADDOPTS=-q python3 -m pytest",
    files: PYTEST,
    test: "test_x.py::test_adds",
    program: "python3 -m pytest --version",
  },
  "pytest without its variable": {
    command: "unset PYTEST_ADDOPTS; pytest -q",
    files: PYTEST,
    test: "test_x.py::test_adds",
    program: "pytest --version",
  },
  "go with flags of the script": {
    command: "GOFLAGS=-mod=mod go test ./...",
    files: GO,
    test: "example.com/m > TestAdds",
    program: "go version",
  },
};

describe.each(Object.entries(LOST))("%s", (_, { command, files, test, program }) => {
  it.skipIf(program !== undefined && isMissing(program))("loses no report", { timeout: LIMIT_MS }, async () => {
    const [path, folder, home, blobs] = [tempDir("lost"), tempDir("reports"), tempDir("home"), memoryBlobs()];
    writeFiles(path, files);
    if (!Object.keys(files).some((one) => one.startsWith("node_modules/")))
      symlinkSync(MODULES, join(path, "node_modules"));
    const PATH = `${join(NODE, "..")}:${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}`;
    const spec = { name: "test", kind: "command", command, required: true, timeoutMs: LIMIT_MS } as const;
    const environment = { PATH, HOME: home, TMPDIR: home, npm_config_update_notifier: "false", ...toolchains() };
    const check = commandCheck(spec, { run: "r-lost", environment, blobs, reports: { folder, at: folder } });
    const tree = { path, tree: TREE, isolation: "copy", release: async () => {} };
    const verdict = await check.judge(tree, new AbortController().signal, noAbout);
    const log = "evidence" in verdict ? await blobs.get(verdict.evidence.log ?? "") : undefined;
    expect(verdict, Buffer.from(log ?? []).toString()).toMatchObject({ is: "pass" });
    const ids = "evidence" in verdict ? await blobs.get(verdict.evidence.tests?.ids ?? "") : undefined;
    expect(Buffer.from(ids ?? []).toString()).toBe(JSON.stringify({ [test]: "pass" }));
  });
});
