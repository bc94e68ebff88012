/** Completion as a shell does it: the script sourced into a real bash, its function called for a half-typed line. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { recorded, RUN } from "../support/recorded-place.ts";
import { tempDir } from "../support/temp.ts";

const CLI = join(import.meta.dirname, "../../dist/views/cli/main.js");
const NODE = join(import.meta.dirname, "../../node_modules/.bin/node");

interface Shell {
  /** What is offered for the last word. */
  complete(...words: string[]): string[];
}

function shellIn(cwd: string, env: Readonly<Record<string, string>>): Shell {
  const bin = tempDir("bin");
  mkdirSync(bin, { recursive: true });
  const pawl = join(bin, "pawl");
  writeFileSync(pawl, `#!/bin/sh\nexec "${NODE}" "${CLI}" "$@"\n`);
  chmodSync(pawl, 0o755);
  const path = `${bin}:${dirname(process.execPath)}:${env["PATH"] ?? ""}`;
  const bash = (script: string): string =>
    execFileSync("bash", ["--norc", "--noprofile", "-c", script], {
      cwd,
      env: { ...env, PATH: path },
      encoding: "utf8",
    });
  return {
    complete(...words) {
      const typed = ["pawl", ...words].map((word) => `'${word}'`).join(" ");
      const said = bash(
        `source <(pawl completion bash); COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _pawl 2>&1; printf '%s\\n' "\${COMPREPLY[@]}"`,
      );
      return said.split("\n").filter((line) => line !== "");
    },
  };
}

it("offers commands, flags, values and runs in a real bash", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  recording.close();
  const { complete } = shellIn(place.repository.path, place.env);
  expect(complete("")).toEqual(expect.arrayContaining(["run", "watch", "status", "completion"]));
  expect(complete("")).not.toContain("complete");
  expect(complete("st")).toEqual(["status", "steer", "stop", "standin"]);
  expect(complete("run", "x", "--max-it")).toEqual(["--max-iterations"]);
  expect(complete("run", "x", "--context", "")).toEqual(["persistent", "fresh", "auto"]);
  expect(complete("run", "x", "--context", "=", "f")).toEqual(["fresh"]);
  expect(complete("config", "")).toEqual(["show", "schema", "--help"]);
  expect(complete("memory", "pin", "")).toEqual([RUN]);
  expect(complete("runs", "")).toEqual(["clean", "--all", "--json", "--help"]);
  expect(complete("runs", "--a")).toEqual(["--all"]);
  expect(complete("runs", "clean", "")).toEqual([RUN]);
  expect(complete("runs", "clean", "--o")).toEqual(["--older-than"]);
  expect(complete("completion", "")).toEqual(["bash", "zsh", "fish"]);
  expect(complete("status", "")).toEqual([RUN]);
  expect(complete("steer", "r-2026")).toEqual([RUN]);
  expect(complete("watch", "2026")).toEqual([RUN.slice(2)]);
  // What nobody knows is left to the shell's own files.
  for (const line of [
    ["run", ""],
    ["nosuch", "x"],
    ["run", "-f", ""],
    ["status", RUN, ""],
  ])
    expect(complete(...line)).toEqual([]);
});

it("stays silent when anything is wrong, and leaves nothing behind", async () => {
  const { place, recording } = await recorded();
  recording.close();
  writeFileSync(join(place.state, "journal.db"), "no database");
  const { complete } = shellIn(place.repository.path, place.env);
  expect(complete("status", "")).toEqual([]);
  const broken = await place.start(["complete", "status", ""], { env: { PAWL_HOME: "relative" } }).done;
  expect([broken.code, broken.stdout, broken.stderr]).toEqual([0, "", ""]);
});

it("prints a script for each shell", async () => {
  const { place, recording } = await recorded();
  recording.close();
  expect((await place.pawl("completion", "zsh")).stdout).toContain("compdef _pawl pawl");
  expect((await place.pawl("completion", "fish")).stdout).toContain("complete -c pawl");
  const own = await place.start(["completion"], { env: { SHELL: "/usr/bin/fish" } }).done;
  expect(own.stdout).toContain("__pawl_complete");
});
