/** A failure at the end of a script, tried by running it: met where the script comes to its end, and nowhere else. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { plantAtEnd as plant, type Way } from "./plant-script.ts";

const ID = "3f9ad1c0b7e2";
const MARK = "77aa01cc12fe";
const plantAtEnd = (path: string, text: string, way: Way = "throw"): string | undefined =>
  plant(path, text, { id: ID, mark: MARK, way });
/** Against a script that hangs. */
const RUN_TIMEOUT_MS = 30_000;

const PROGRAMS: Readonly<Record<string, string>> = {
  js: process.execPath,
  mjs: process.execPath,
  py: "python3",
  sh: "sh",
};

interface Run {
  status: number | null;
  isMet: boolean;
  isLax: boolean;
}

function run(path: string, script: string, product: Readonly<Record<string, string>>): Run {
  const folder = tempDir("script");
  for (const [name, text] of Object.entries({ ...product, [path]: script })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const program = PROGRAMS[path.split(".").at(-1) ?? ""] ?? "sh";
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(program, [path], { cwd: folder, env, timeout: RUN_TIMEOUT_MS });
  const said = `${stdout.toString()}${stderr.toString()}`;
  return { status, isMet: said.includes(ID), isLax: said.includes(MARK) };
}

/** Honest: what is tested is right. */
const JS = "exports.add = (a, b) => a + b;\nexports.slow = async (a, b) => a + b;\n";
const MJS = "export const add = (a, b) => a + b;\nexport const slow = async (a, b) => a + b;\n";
const PY = "def add(a, b):\n    return a + b\n\nasync def slow(a, b):\n    return a + b\n";
const SH = "add() { echo $(($1 + $2)); }\n";
const HONEST = { "product.js": JS, "product.mjs": MJS, "product.py": PY, "product.sh": SH };

const REQUIRED = 'const assert = require("node:assert");\nconst { add, slow } = require("./product.js");\n';
const IMPORTED = 'import assert from "node:assert";\nimport { add, slow } from "./product.mjs";\n';

/** Name of the script, its text. */
const SCRIPTS: Readonly<Record<string, readonly [string, string]>> = {
  "plain asserts": ["a.js", `${REQUIRED}assert.equal(add(1, 2), 3);\nconsole.log("ok");\n`],
  "a loop and helpers": [
    "a.js",
    `${REQUIRED}function check(name, work) {\n  work();\n  console.log(name);\n}\n[[1, 2, 3]].forEach(([a, b, c]) => assert.equal(add(a, b), c));\ncheck("adds", () => assert.equal(add(1, 2), 3));\n`,
  ],
  "an exit with what it counted": [
    "a.js",
    `${REQUIRED}let failed = 0;\nif (add(1, 2) !== 3) failed += 1;\nprocess.exit(failed > 0 ? 1 : 0);\n`,
  ],
  "an exit with what it works out": [
    "a.js",
    `${REQUIRED}const main = () => (add(1, 2) === 3 ? 0 : 1);\nprocess.exit(main());\n`,
  ],
  "main() that nobody waits for": [
    "a.js",
    `${REQUIRED}async function main() {\n  assert.equal(await slow(1, 2), 3);\n}\n\nmain();\n`,
  ],
  "main() with then and catch": [
    "a.js",
    `${REQUIRED}const main = async () => {\n  const sum = await slow(1, 2);\n  assert.equal(sum, 3);\n};\n\nmain()\n  .then(() => console.log("ok"))\n  .catch((error) => {\n    console.error(error);\n    process.exit(1);\n  }); // done\n`,
  ],
  "an async function called where it stands": [
    "a.js",
    `${REQUIRED}(async () => {\n  const all = await Promise.all([1, 2].map(async (n) => await slow(n, 0)));\n  assert.deepEqual(all, [1, 2]);\n})();\n`,
  ],
  "await at the top": [
    "a.mjs",
    `${IMPORTED}assert.equal(await slow(1, 2), 3);\nawait new Promise((resolve) => setTimeout(resolve, 1));\nassert.equal(add(1, 2), 3);\n`,
  ],
  "an async main that is awaited": [
    "a.mjs",
    `${IMPORTED}async function main() {\n  assert.equal(await slow(1, 2), 3);\n}\nawait main();\nconsole.log(\`done \${add(1, 2)}\`);\n`,
  ],
  "asserts of Python": ["a.py", "from product import add\n\nassert add(1, 2) == 3\n"],
  "a main of Python": [
    "a.py",
    "import sys\nfrom product import add\n\ndef main():\n    assert add(1, 2) == 3\n    return 0\n\nif __name__ == '__main__':\n    sys.exit(main())\n",
  ],
  asyncio: [
    "a.py",
    "import asyncio\nfrom product import slow\n\nasync def main():\n    assert await slow(1, 2) == 3\n\nasyncio.run(main())\n",
  ],
  "a shell script": ["a.sh", '. ./product.sh\n[ "$(add 1 2)" = 3 ] || exit 1\n. ./product.sh\nadd 1 2\n'],
  "a shell script that becomes another": ["a.sh", '[ -n "x" ]\nexec sh ./b.sh\n'],
};

/** Product code that leaves early, or waits for ever; the honest bug among them is the last of each. */
const JS_CHEATS = {
  "exit on load": "process.exit(0);\n",
  "exit when called": "add = slow = () => process.exit(0);\n",
  "exit a little later":
    "setImmediate(() => process.exit(0)); slow = () => new Promise(() => setTimeout(() => {}, 500));\n",
  "exit by its real name": "process.reallyExit(0);\n",
  "an exit handler that turns the code": 'process.on("exit", () => { process.exitCode = 0; });\n',
  "an exit handler that exits": 'process.on("exit", () => process.reallyExit(0));\n',
  "a handler for what is thrown":
    'process.on("uncaughtException", () => {}); process.on("unhandledRejection", () => {});\n',
  "an end by a signal that is caught":
    'process.on("SIGTERM", () => process.exit(0)); add = slow = () => { process.kill(process.pid, "SIGTERM"); return new Promise(() => setInterval(() => {}, 50)); };\n',
  "a promise that is never settled": "slow = () => new Promise(() => {});\n",
  "a timer that does not hold": "slow = (a, b) => new Promise((resolve) => setTimeout(resolve, 50, a + b).unref());\n",
};
/** Those that change nothing for a script that waits for nothing. */
const ASYNC_ONLY = /never settled|does not hold/;
const SYNC_ONLY = /a little later|a signal/;

const jsProduct = (cheat: string) => ({
  ...HONEST,
  "product.js": `let add = (a, b) => a + b;\nlet slow = async (a, b) => a + b;\n${cheat}exports.add = add;\nexports.slow = slow;\n`,
  "product.mjs": `let add = (a, b) => a + b;\nlet slow = async (a, b) => a + b;\n${cheat}export { add, slow };\n`,
});
const PY_CHEATS = {
  "exit on load": "import os\nos._exit(0)\n",
  "exit when called": "import sys\ndef add(a, b):\n    sys.exit(0)\nasync def slow(a, b):\n    sys.exit(0)\n",
  "an exit that is raised": "raise SystemExit(0)\n",
  "a handler at the end": "import atexit, os\natexit.register(os._exit, 0)\n",
  "a hook for what is raised": "import sys, os\nsys.excepthook = lambda *a: os._exit(0)\n",
};

const named = (isOne: (path: string) => boolean): string[] =>
  Object.keys(SCRIPTS).filter((name) => isOne(SCRIPTS[name]?.[0] ?? ""));

describe.each(Object.keys(SCRIPTS))("a failure at the end of %s", (name) => {
  const [path, text] = SCRIPTS[name] ?? ["", ""];
  const more: Record<string, string> = path.endsWith(".sh") ? { "b.sh": "exit 0\n" } : {};

  it("is met where the script comes to its end, and not there without it", () => {
    expect(run(path, text, { ...HONEST, ...more })).toMatchObject({ status: 0, isMet: false });
    const { status, ...is } = run(path, plantAtEnd(path, text) ?? "", { ...HONEST, ...more });
    expect([status === 0, is]).toEqual([false, { isMet: true, isLax: false }]);
  });
});

describe.each(Object.entries(JS_CHEATS))("product code with %s", (cheat, code) => {
  const isAsync = (name: string): boolean => /await|async/.test(SCRIPTS[name]?.[1] ?? "");
  it.each(named((path) => /\.m?js$/.test(path)))("does not get past a failure at the end of: %s", (name) => {
    const [path, text] = SCRIPTS[name] ?? ["", ""];
    const product = jsProduct(code);
    const planted = run(path, plantAtEnd(path, text) ?? "", product);
    // Green with the plant says that it was not seen. Otherwise the check saw it, or is red by itself.
    const isHarmless = isAsync(name) ? false : ASYNC_ONLY.test(cheat);
    const plain = run(path, text, product);
    const isCaught = planted.status === 0 || plain.status !== 0;
    expect(isCaught || isHarmless || (SYNC_ONLY.test(cheat) && !isAsync(name))).toBe(true);
  });
});

describe.each(Object.entries(PY_CHEATS))("a module with %s", (_cheat, code) => {
  it.each(named((path) => path.endsWith(".py")))("does not get past a failure at the end of: %s", (name) => {
    const [path, text] = SCRIPTS[name] ?? ["", ""];
    const product = { ...HONEST, "product.py": `${PY}${code}` };
    const planted = run(path, plantAtEnd(path, text) ?? "", product);
    expect(planted.status === 0 || run(path, text, product).status !== 0).toBe(true);
  });
});

describe("product code that changes how a script fails", () => {
  const of = (name: string): readonly [string, string] => SCRIPTS[name] ?? ["", ""];
  it.each(["plain asserts", "main() that nobody waits for", "await at the top"])(
    "is told by the assertions that let pass what is wrong: %s",
    (name) => {
      const [path, text] = of(name);
      const lax = path.endsWith(".mjs")
        ? 'import assert from "node:assert";\n'
        : 'const assert = require("node:assert");\n';
      const cheat = `${lax}for (const one of ["equal", "deepEqual"]) assert[one] = () => {};\n`;
      expect(run(path, plantAtEnd(path, text) ?? "", jsProduct(cheat))).toMatchObject({ status: 1, isLax: true });
    },
  );

  it.each([
    ["an exit with what it counted", "process.exit = () => {};\n"],
    ["an exit with what it works out", "const { exit } = process; process.exit = () => exit(0);\n"],
    ["main() with then and catch", "process.exit = () => {};\n"],
  ])("is told by the exit that a script uses itself: %s", (name, cheat) => {
    const [path, text] = of(name);
    const planted = plantAtEnd(path, text, "exit") ?? "";
    expect(run(path, planted, HONEST).status).toBe(1);
    expect(run(path, planted, jsProduct(cheat)).status).toBe(0);
  });

  it("is told by the exit of Python, too", () => {
    const [path, text] = of("a main of Python");
    const planted = plantAtEnd(path, text, "exit") ?? "";
    expect(run(path, planted, HONEST).status).toBe(1);
    expect(run(path, planted, { "product.py": `${PY}import sys\nsys.exit = print\n` }).status).toBe(0);
  });

  it("needs no second look where a script has no exit of its own", () => {
    const [path, text] = of("plain asserts");
    expect(plantAtEnd(path, text, "exit")).toBeUndefined();
  });
});

it("a sourced file that leaves the shell does not get past it either", () => {
  const [path, text] = SCRIPTS["a shell script"] ?? ["", ""];
  const product = { ...HONEST, "product.sh": "exit 0\n" };
  expect(run(path, plantAtEnd(path, text) ?? "", product)).toMatchObject({ status: 0, isMet: false });
});

it.each([
  ["check.sh", "[ -n x ] && exit 0\n./a\n"],
  ["check.sh", "done() { exit $1; }\ndone 0\n"],
  ["check.sh", "exit $(./a)\n"],
  ["run.js", "main().then(() => process.exit(0));\nx();\n"],
  ["run.py", "if x():\n    sys.exit(0)\ntest()\n"],
  ["run.py", "unittest.main()\n"],
  ["verify", "./a\n"],
  ["run.rb", "a\n"],
  // What they wait for may never come, and nothing tells.
  ["run.js", "add(1, 2, (error, sum) => assert.equal(sum, 3));\n"],
  ["run.js", "server.listen(0, async () => {\n  await test();\n});\n"],
  ["run.js", "function done(sum) { assert.equal(sum, 3); }\nadd(1, 2, done);\n"],
  ["run.js", "setTimeout(() => assert.equal(x, 1), 10);\n"],
  ["run.js", "slow(1, 2).then((sum) => assert.equal(sum, 3));\nconsole.log(1);\n"],
  ["run.js", "async function main() {\n  await x();\n}\nmain();\nconsole.log(1);\n"],
  ["run.js", "[1].forEach(async (n) => {\n  assert.equal(await slow(n, 1), 2);\n});\n"],
  ["run.js", "const wait = new Promise((resolve) => go(resolve));\nwait.then(() => assert(1));\nx;\n"],
  ["run.js", 'process.on("exit", () => assert.equal(seen, 1));\n'],
])("there is none in %s that may end well before: %s", (path, text) => expect(plantAtEnd(path, text)).toBeUndefined());

it.each([
  ["check.sh", "fail=0\nexit $fail\n", `fail=0\necho ${ID} >&2; exit 1\nexit $fail\n`],
  ["verify", "#!/bin/sh\n. ./a.sh\n", `#!/bin/sh\n. ./a.sh\necho ${ID} >&2; exit 1\n`],
  [
    "verify",
    "#!/usr/bin/env node\nassert(1)\n",
    `#!/usr/bin/env node\nassert(1)\n;{let n=0;try{assert(false)}catch{n++}throw`,
  ],
  ["run.js", 'if (x) process.exit(1);\nsay("process.exit(0)"); // exit(0)\n', `throw new Error(n===0?"${ID}"`],
  ["run.ts", "main().catch((error: unknown) => {\n  fail(error);\n});\nasync function main() {}\n", undefined],
  [
    "run.ts",
    "async function main() {}\nmain().catch((error: unknown) => {\n  fail(error);\n});\n",
    ".then(()=>{{let n=0;throw",
  ],
])("%s has its end where nothing is left of it: %j", (path, text, planted) => {
  const whole = plantAtEnd(path, text);
  if (planted === undefined) expect(whole).toBeUndefined();
  else expect(whole).toContain(planted);
});
