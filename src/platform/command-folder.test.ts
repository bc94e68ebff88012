import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { commandIn, folderOf } from "./command-folder.ts";

const sh = (cwd: string, command: string): string =>
  execFileSync("/bin/sh", ["-c", command], { cwd, stdio: ["ignore", "pipe", "ignore"] })
    .toString()
    .trim();

it.each(["pkg", "a b/c", "-x", "it's", "$HOME", "a;b"])("a command runs in the folder %s", (folder) => {
  const top = tempDir("folder");
  mkdirSync(join(top, folder), { recursive: true });
  expect(sh(top, commandIn(folder, "pwd"))).toBe(join(top, folder));
  expect(sh(top, commandIn(folder, "false; pwd # here"))).toBe(join(top, folder));
});

it.each(["echo ran", "false; echo ran", "false || echo ran", "true & echo ran", "false\necho ran", "echo ran # why"])(
  "nothing of `%s` runs where the folder is gone",
  (command) => {
    expect(sh(tempDir("folder"), `${commandIn("gone", command)}\necho end`)).toBe("end");
  },
);

it("a command that needs no folder is left as it is", () => {
  expect(commandIn("", "npm test; true")).toBe("npm test; true");
});

it("finds the folder again", () => {
  expect(folderOf("npm test")).toEqual({ folder: "", command: "npm test" });
  for (const folder of ["pkg/a", "a b"])
    expect(folderOf(commandIn(folder, "npm test && x"))).toEqual({ folder, command: "npm test && x" });
});
