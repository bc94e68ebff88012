/** What real interpreters print about real failures, and what is made of it for the model. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { codePlace, emptyFolder, type CodePlace } from "../../test/support/code-place.ts";
import { explainExecution, failureMessage, type Explained, type FailureKind } from "../loop/explain-execution.ts";
import type { ExecutionLimits, Language } from "../ports/executor.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await codePlace(tempDir("code"));
});
afterAll(() => place.close());
beforeEach(() => emptyFolder(place.folder));

interface Case {
  name: string;
  language: Language;
  text: string;
  limits?: Partial<ExecutionLimits>;
  kind: FailureKind;
  /** Type and first line of the message; null: none. */
  title?: string | null;
  /** `file:line function`, the most recent call last. */
  frames?: string[];
  /** Part of the words for the model. */
  says?: string[];
  never?: string[];
}

const py = (name: string, text: string, rest: Omit<Case, "name" | "language" | "text">): Case => ({
  name: `python: ${name}`,
  language: "python",
  text,
  ...rest,
});
const js = (name: string, text: string, rest: Omit<Case, "name" | "language" | "text">): Case => ({
  name: `javascript: ${name}`,
  language: "javascript",
  text,
  ...rest,
});
const sh = (name: string, text: string, rest: Omit<Case, "name" | "language" | "text">): Case => ({
  name: `shell: ${name}`,
  language: "shell",
  text,
  ...rest,
});

const CASES: Case[] = [
  py("an exception, with the lines of the code itself", "def half(x):\n    return 1 / x\n\nprint('a')\nhalf(0)", {
    kind: "exception",
    title: "ZeroDivisionError: division by zero",
    frames: ["solution.py:5 <module>", "solution.py:2 half"],
    says: ["  at solution.py:2 in half: return 1 / x"],
  }),
  py("only the frames of the code, not of the library inside", "import json\njson.loads('{bad')", {
    kind: "exception",
    title: expect.stringMatching(/^json.decoder.JSONDecodeError: Expecting property name/),
    frames: ["solution.py:2 <module>"],
    never: ["decoder.py", "raw_decode"],
  }),
  py(
    "a chain, with what it came from",
    "try:\n    {}['x']\nexcept KeyError as e:\n    raise ValueError('no x') from e",
    {
      kind: "exception",
      title: "ValueError: no x",
      frames: ["solution.py:4 <module>"],
      says: ["caused by KeyError: 'x'"],
    },
  ),
  py("a second failure while the first was handled", "try:\n    {}['x']\nexcept KeyError:\n    int('zz')", {
    kind: "exception",
    title: "ValueError: invalid literal for int() with base 10: 'zz'",
    says: ["caused by KeyError: 'x'"],
  }),
  py("a syntax error", "x = 1\ndef f(:\n    pass", {
    kind: "syntax",
    title: "SyntaxError: invalid syntax",
    frames: ["solution.py:2 null"],
    says: ["at solution.py:2: def f(:"],
  }),
  py("an indentation error", "if True:\nprint(1)", {
    kind: "syntax",
    title: expect.stringMatching(/^IndentationError: expected an indented block/),
    frames: ["solution.py:2 null"],
  }),
  py("a syntax error in what it evaluates is an exception", "eval('1 +')", {
    kind: "exception",
    title: "SyntaxError: invalid syntax",
  }),
  py("an assertion", "total = 3\nassert total == 4, f'total is {total}'", {
    kind: "assertion",
    title: "AssertionError: total is 3",
  }),
  py("an assertion without words", "assert 1 == 2", { kind: "assertion", title: "AssertionError" }),
  py(
    "of a thread, though it ended well",
    "import threading\ndef work():\n    raise ValueError('inside')\nt = threading.Thread(target=work)\nt.start()\nt.join()\nprint('end')",
    {
      kind: "ok",
      title: "ValueError: inside",
      frames: ["solution.py:3 work"],
      says: ["a part of it failed"],
    },
  ),
  py("recursion, once", "def f(n):\n    return f(n + 1)\nf(0)", {
    kind: "exception",
    title: expect.stringMatching(/^RecursionError: maximum recursion depth/),
    frames: ["solution.py:3 <module>", "solution.py:2 f"],
  }),
  py("of several lines", "class Odd(Exception):\n    pass\nraise Odd('first\\nsecond')", {
    kind: "exception",
    title: "Odd: first",
    says: ["\nsecond\n"],
  }),
  py("a group", "raise ExceptionGroup('many', [ValueError('a'), TypeError('b')])", {
    kind: "exception",
    title: "ExceptionGroup: many (2 sub-exceptions)",
    frames: ["solution.py:1 <module>"],
    says: ["ValueError: a", "TypeError: b"],
  }),
  py("of a task", "import asyncio\nasync def f():\n    raise RuntimeError('later')\nasyncio.run(f())", {
    kind: "exception",
    title: "RuntimeError: later",
    frames: ["solution.py:4 <module>", "solution.py:3 f"],
  }),
  py("of a file of its own", "import helper\nhelper.go()", {
    kind: "exception",
    title: "KeyError: 'k'",
    frames: ["solution.py:2 <module>", "helper.py:2 go"],
  }),
  py(
    "printed as if it were a result",
    "import sys, traceback\ntry:\n    [][1]\nexcept IndexError:\n    traceback.print_exc(file=sys.stdout)\n    sys.exit(1)",
    {
      kind: "exception",
      title: "IndexError: list index out of range",
    },
  ),
  py("a file that is missing", "open('nope.csv')", {
    kind: "exception",
    title: "FileNotFoundError: [Errno 2] No such file or directory: 'nope.csv'",
    says: ["Paths are relative to the working folder"],
  }),
  py("a library that is missing", "import nopandas", {
    kind: "exception",
    title: "ModuleNotFoundError: No module named 'nopandas'",
    says: ["use the standard library"],
  }),
  py("an exit with words", "import sys\nsys.exit('wrong input')", {
    kind: "exit",
    title: null,
    says: ["Failed (exit): exit code 1: wrong input"],
  }),
  py("a crash, with where", "import os\ndef f():\n    os.abort()\nf()", {
    kind: "killed",
    title: "Fatal Python error: Aborted",
    frames: ["solution.py:4 <module>", "solution.py:3 f"],
    says: ["ended by SIGABRT"],
  }),
  py("killed", "import os\nos.kill(os.getpid(), 9)", { kind: "killed", title: null, says: ["ended by SIGKILL"] }),
  py("memory", "x = []\nwhile True:\n    x.append('x' * 1000000)", {
    limits: { memoryBytes: 64 * 1024 ** 2 },
    kind: "memory",
    says: ["it used more than 64 MB of memory", "Its memory is bounded"],
  }),
  py("no standard input", "print(input())", { kind: "exception", says: ["There is no standard input"] }),
  py("the disk", "open('big', 'w').write('x' * 3_000_000)", {
    limits: { diskBytes: 2 ** 20 },
    kind: "limit",
    says: ["it wrote more than 1 MB"],
  }),
  js("an exception", "function half(x) {\n  return x.y.z;\n}\nhalf({});", {
    kind: "exception",
    title: "TypeError: Cannot read properties of undefined (reading 'z')",
    frames: ["solution.js:4 <module>", "solution.js:2 half"],
    says: ["  at solution.js:2 in half: return x.y.z;"],
    never: ["node:internal", "Node.js v"],
  }),
  js("of a module", "import fs from 'node:fs';\nJSON.parse('{bad');", {
    kind: "exception",
    title: expect.stringMatching(/^SyntaxError: Expected property name/),
    frames: ["solution.js:2 <module>"],
  }),
  js("a syntax error", "const a = 1;\nconst b = ;", {
    kind: "syntax",
    title: "SyntaxError: Unexpected token ';'",
    frames: ["solution.js:2 null"],
    says: ["at solution.js:2: const b = ;"],
    never: ["wrapSafe"],
  }),
  js("a syntax error of a module", "import fs from 'node:fs';\nconst b = ;", {
    kind: "syntax",
    title: "SyntaxError: Unexpected token ';'",
    frames: ["solution.js:2 null"],
  }),
  js("an assertion with its difference", "require('assert').deepStrictEqual({ a: 1 }, { a: 2 })", {
    kind: "assertion",
    title: expect.stringMatching(/^AssertionError: Expected values to be strictly deep-equal/),
    says: ["+   a: 1", "-   a: 2"],
    never: ["generatedMessage"],
  }),
  js("a cause", "try { null.x } catch (cause) {\n  throw new Error('outer', { cause });\n}", {
    kind: "exception",
    title: "Error: outer",
    says: ["caused by TypeError: Cannot read properties of null (reading 'x')"],
  }),
  js(
    "a promise nobody caught",
    "async function later() {\n  await null;\n  throw new RangeError('late');\n}\nlater();",
    {
      kind: "exception",
      title: "RangeError: late",
      frames: ["solution.js:3 later"],
    },
  ),
  js("no error at all", "throw 5", { kind: "exception", title: "Uncaught: 5", frames: ["solution.js:1 null"] }),
  js("a name of its own, of several lines", "class Odd extends Error {}\nthrow new Odd('first\\nsecond')", {
    kind: "exception",
    title: "Odd: first",
    says: ["\nsecond\n"],
  }),
  js("printed, and ended with", "try { null.x } catch (error) {\n  console.error(error);\n  process.exit(2);\n}", {
    kind: "exception",
    title: "TypeError: Cannot read properties of null (reading 'x')",
    frames: ["solution.js:1 <module>"],
  }),
  js("a module that is missing", "require('nope')", {
    kind: "exception",
    title: "Error: Cannot find module 'nope'",
    says: ["use the standard library"],
  }),
  js("memory", "const x = []; while (true) x.push(new Array(100_000).fill(1.5))", {
    limits: { memoryBytes: 64 * 1024 ** 2 },
    kind: "memory",
    says: ["it used more than 64 MB of memory"],
    never: ["Native stack", "0x"],
  }),
  {
    name: "typescript: an exception on its own line",
    language: "typescript",
    text: "interface A {\n  b: number;\n}\nconst a = JSON.parse('null') as A;\nconsole.log(a.b);",
    kind: "exception",
    title: "TypeError: Cannot read properties of null (reading 'b')",
    frames: ["solution.ts:5 <module>"],
    says: ["console.log(a.b);"],
  },
  {
    name: "typescript: a syntax error",
    language: "typescript",
    text: "const a: = 3;",
    kind: "syntax",
    title: expect.stringMatching(/^SyntaxError: Unexpected token/),
    frames: ["solution.ts:1 null"],
  },
  sh("an exit code, with the last lines", "echo begun\ncat nope.txt\nexit 3", {
    kind: "exit",
    title: null,
    says: ["exit code 3: cat: nope.txt: No such file", "The last it printed:\n  begun", "Paths are relative"],
  }),
  sh("a syntax error", "echo a\nif then", {
    kind: "syntax",
    says: ["solution.sh: line 2: syntax error near unexpected token `then'"],
    never: [".pawl-program"],
  }),
  sh("a program that is missing", "frobnicate --now", { kind: "exit", says: ["exit code 127", "not installed"] }),
  sh("of another language inside", "python3 - <<'E'\n1/0\nE", {
    kind: "exception",
    title: "ZeroDivisionError: division by zero",
  }),
  sh("no end, with the last it printed", "echo working; sleep 20", {
    limits: { timeoutMs: 5_000 },
    kind: "timeout",
    says: ["it did not end within 5 s", "  working", "bound every loop"],
  }),
  sh("too much output", "yes", {
    limits: { outputBytes: 100_000 },
    kind: "limit",
    says: ["it printed more than 97.7 KB"],
  }),
];

const frameWords = ({ exception }: Explained): string[] =>
  (exception?.frames ?? []).map((frame) => `${frame.file}:${frame.line} ${frame.function}`);
const titleWords = ({ exception }: Explained): string | null =>
  exception === null
    ? null
    : [exception.type, exception.message.split("\n")[0]].filter((part) => part !== "").join(": ");

it.for(CASES)("$name", async ({ language, text, limits, kind, title, frames, says = [], never = [] }) => {
  writeFileSync(join(place.folder, "helper.py"), "def go():\n    return {}['k']\n");
  const execution = await place.run(language, text, limits);
  const code = { language, text };
  const explained = explainExecution(execution, code);
  const told = failureMessage(execution, code);
  expect({ kind: explained.kind, told, printed: execution.stderr.text }).toMatchObject({ kind });
  if (title !== undefined) expect(titleWords(explained)).toEqual(title);
  if (frames !== undefined) expect(frameWords(explained)).toEqual(frames);
  for (const part of says) expect(told).toContain(part);
  for (const part of [place.root, ...never]) expect(told).not.toContain(part);
});

it("has one fingerprint for a failure that moved, and another for another (S6)", async () => {
  const print = async (text: string): Promise<string> => {
    const execution = await place.run("python", text);
    return explainExecution(execution, { language: "python", text }).fingerprint;
  };
  const failing = "class A: pass\ndef f(a):\n    return a.nope\nimport time, random\n";
  const [one, two, three, four] = await Promise.all([
    print(`${failing}raise KeyError(f'{A()} at {time.time()} {random.random()}')`),
    print(`\n\n# moved\n${failing}\n\nraise KeyError(f'{A()} at {time.time()} {random.random()}')`),
    print(`${failing}f(A())`),
    print("x = [1]\nx[3]"),
  ]);
  expect(one).toBe(two);
  expect(new Set([one, three, four]).size).toBe(3);
});
