/** Total and bounded over anything a program can print; real interpreters are asked in `executors/explained.test.ts`. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LANGUAGES, PROGRAM_NAME, type Code, type Execution, type ExecutionEnd } from "../ports/executor.ts";
import { explainExecution, failureMessage, MAX_FAILURE_CHARS } from "./explain-execution.ts";

const execution = (stderr: string, end: ExecutionEnd = { is: "exit", code: 1 }, stdout = ""): Execution => ({
  end,
  stdout: { text: stdout, bytes: stdout.length },
  stderr: { text: stderr, bytes: stderr.length },
  files: [],
  durationMs: 5,
});
const python = (text = ""): Code => ({ language: "python", text });

const PIECES = [
  "Traceback (most recent call last):",
  `  File "/w/${PROGRAM_NAME}.py", line 2, in f`,
  '  File "<string>", line 1',
  "    return 1 / x",
  "           ~~^~~",
  "  [Previous line repeated 996 more times]",
  "ZeroDivisionError: division by zero",
  "MemoryError",
  `ValueError: ${"long ".repeat(90)}`,
  "The above exception was the direct cause of the following exception:",
  "During handling of the above exception, another exception occurred:",
  "  + Exception Group Traceback (most recent call last):",
  "  +-+---------------- 1 ----------------",
  "    | ValueError: a",
  "Fatal Python error: Aborted",
  `/w/${PROGRAM_NAME}.js:1`,
  "throw 5",
  "^",
  "",
  "TypeError: bad {",
  "[TypeError: fetch failed] {",
  `    at f (/w/${PROGRAM_NAME}.js:1:96)`,
  "    at node:internal/main/run_main_module:33:47",
  "  [cause]: Error: why",
  "  [errors]: [",
  "Node.js v24.0.0",
  "FATAL ERROR: JavaScript heap out of memory",
  `${PROGRAM_NAME}.sh: line 2: syntax error near unexpected token`,
  "x".repeat(5_000),
  "\u001b[31mred\u001b[0m",
] as const;

const ends = fc.oneof(
  fc.record({ is: fc.constant("exit" as const), code: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ is: fc.constant("signal" as const), signal: fc.string() }),
  fc.record({ is: fc.constant("timeout" as const), afterMs: fc.nat() }),
  fc.record({
    is: fc.constant("limit" as const),
    which: fc.constantFrom("memory" as const, "processes" as const, "disk" as const, "output" as const),
    message: fc.string(),
  }),
  fc.record({ is: fc.constant("unavailable" as const), reason: fc.string({ maxLength: 5_000 }) }),
);
const printed = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string(), fc.string({ unit: "binary" })), { maxLength: 40 })
  .map((lines) => lines.join("\n"));

describe("explainExecution", () => {
  it("has an answer of bounded size for whatever a program prints (S6)", () => {
    fc.assert(
      fc.property(
        ends,
        printed,
        printed,
        fc.constantFrom(...LANGUAGES),
        fc.array(fc.string({ maxLength: 3_000 }), { maxLength: 5 }),
        (end, stderr, stdout, language, notes) => {
          const given = { ...execution(stderr, end, stdout), notes };
          const code = { language, text: stdout };
          const explained = explainExecution(given, code);
          expect(failureMessage(given, code).length).toBeLessThanOrEqual(MAX_FAILURE_CHARS);
          expect(explained.message.length).toBeLessThanOrEqual(300);
          expect(explained.fingerprint.length).toBeLessThanOrEqual(200);
          expect(explained.fingerprint === "").toBe(explained.kind === "ok");
          expect(JSON.stringify(explained).length).toBeLessThan(20_000);
          expect(explained.kind === "ok").toBe(end.is === "exit" && end.code === 0);
          expect(explainExecution(given, code)).toEqual(explained);
        },
      ),
    );
  });

  it("is quick over a megabyte on one line, and over as many lines", () => {
    for (const text of [
      "/a".repeat(2 ** 19),
      "(".repeat(2 ** 20),
      "/".repeat(2 ** 20),
      "    at (\n".repeat(2 ** 17),
      " ".repeat(2 ** 20),
    ])
      expect(failureMessage(execution(text), python()).length).toBeLessThanOrEqual(MAX_FAILURE_CHARS);
  });

  it("reads a traceback of another sandbox, with the code's own lines", () => {
    const stderr = `Traceback (most recent call last):\n  File "/srv/box/run/script.py", line 2, in <module>\n    x[3]\n    ~^^^\nIndexError: list index out of range\n`;
    const { kind, exception, message } = explainExecution(execution(stderr), python("x = [1]\nx[3]"));
    expect([kind, message]).toEqual(["exception", "IndexError: list index out of range"]);
    expect(exception?.frames).toEqual([{ file: "run/script.py", line: 2, function: "<module>", text: "x[3]" }]);
  });

  it("knows code that was given on standard input", () => {
    const stderr = `Traceback (most recent call last):\n  File "<stdin>", line 2, in <module>\nIndexError: list index out of range\n`;
    const { exception } = explainExecution(execution(stderr), python("x = [1]\nx[3]"));
    expect(exception?.frames).toEqual([{ file: "solution.py", line: 2, function: "<module>", text: "x[3]" }]);
  });

  it("takes the last of several tracebacks, with the chain that led to it", () => {
    const block = (type: string): string =>
      `Traceback (most recent call last):\n  File "/w/${PROGRAM_NAME}.py", line 1, in f\n    f()\n${type}: x\n`;
    const cause = "\nThe above exception was the direct cause of the following exception:\n\n";
    const stderr = `Exception in thread Thread-1:\n${block("OSError")}${block("KeyError")}${cause}${block("ValueError")}${cause}${block("TypeError")}`;
    expect(explainExecution(execution(stderr), python("f()")).exception).toMatchObject({
      type: "TypeError",
      causes: ["ValueError: x", "KeyError: x"],
    });
  });

  it("says of a long chain of calls the first and the last", () => {
    const frames = Array.from({ length: 50 }, (_, n) => `  File "/w/${PROGRAM_NAME}.py", line ${n + 1}, in f${n}`);
    const stderr = ["Traceback (most recent call last):", ...frames, "KeyError: 'k'"].join("\n");
    const { exception } = explainExecution(execution(stderr), python());
    expect(exception?.frames.map((frame) => frame.function)).toEqual(["f0", "f1", "f46", "f47", "f48", "f49"]);
  });

  it("tells an unavailable executor from a failure of the code", () => {
    const given = execution("", { is: "unavailable", reason: "Python 3 is not installed" });
    expect(failureMessage(given, python())).toBe("Failed (unavailable): Python 3 is not installed");
  });
});
