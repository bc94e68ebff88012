import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import { commandExists, missingProgram } from "./command-words.ts";

const cwd = tempDir("words");
writeFiles(cwd, { "bin/tool": "", "test.sh": "", "data.txt": "" });
chmodSync(join(cwd, "bin/tool"), 0o755);
chmodSync(join(cwd, "test.sh"), 0o755);
const exists = (command: string) => commandExists(command, { env: { PATH: `/usr/bin:/bin:${cwd}/bin` }, cwd });

it("finds programs in PATH, in the tree, and after assignments", () => {
  for (const command of [
    "sh -c true",
    "tool",
    "  tool --x",
    "./test.sh",
    "bin/tool",
    "/bin/sh",
    "CI=1 A= tool x",
    "cd bin && ./tool",
  ]) {
    expect([command, exists(command)]).toEqual([command, true]);
  }
});

it("says no only to a plain name that is nowhere", () => {
  const none = [
    "nope",
    "nope --all",
    "CI=1 nope",
    "./nope.sh",
    "./data.txt",
    "bin",
    "nope && true",
    "nope|cat",
    "cd x && nope",
    "cd bin && ./test.sh",
    "./bin",
  ];
  for (const command of none) expect([command, exists(command)]).toEqual([command, false]);
});

it("accepts a program of the tree that a setup may make", () => {
  const made = (command: string) => commandExists(command, { env: { PATH: "/usr/bin:/bin" }, cwd, hasSetup: true });
  const commands = [".venv/bin/python -m unittest", "./nope.sh", "nope", "/nope/python"];
  expect(commands.map(made)).toEqual([true, true, false, false]);
});

it("accepts what only a shell can tell", () => {
  const shell = ["cd $X && nope", "if true; then nope; fi", "(nope)", "'my tool' x", "$TOOL x", "`nope`", "~/x/run"];
  const more = ["! nope", "[ -f x ]", "{ nope; }", 'A="b c" nope', ": nope", "", "for i in 1; do nope; done", "*.sh"];
  for (const command of [...shell, ...more]) {
    expect([command, exists(command)]).toEqual([command, true]);
  }
});

it("reads which program the shell itself did not find, in each shell's words", () => {
  const shellName = "pawl-check";
  const missing = (output: string) => missingProgram(output, { shellName });
  expect(missing("pawl-check: 1: pytst: not found\n")).toBe("pytst");
  expect(missing("pawl-check: line 2: pytst: command not found")).toBe("pytst");
  expect(missing("pawl-check: pytst: not found")).toBe("pytst");
  expect(missing("pawl-check: 1: ./test.sh: not found")).toBeUndefined();
  expect(missing("sh: 1: vitest: not found")).toBeUndefined();
  expect(missing("1 test failed")).toBeUndefined();
});
