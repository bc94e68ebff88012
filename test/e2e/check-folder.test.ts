/** A check runs in the folder that it was given in; those of `pawl.yaml` where that lies. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunSpec } from "../../src/spec.ts";
import { CLAIM, cliPlace } from "../support/cli.ts";

const LIMIT_MS = 240_000;

const FILES = {
  ".gitignore": "build/\n",
  "a.txt": "top\n",
  "packages/a/a.txt": "below\n",
  "packages/a/package.json": '{ "scripts": { "test": "sh all.sh" } }\n',
  "packages/a/all.sh": "test -f made.txt\n",
};

it("runs a check in the folder it was given in, and says so", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ files: FILES, shellAgent: { 1: ["echo x > packages/a/made.txt", CLAIM] } });
  const cwd = join(place.repository.path, "packages/a");
  const given = ["--check", "tests=npm test", "--check", "grep -q below a.txt", "--setup", "test -f all.sh"];
  const dry = await place.start(["run", "make it", ...given, "--dry-run", "--json"], { cwd }).done;
  const { spec } = JSON.parse(dry.stdout) as { spec: RunSpec };
  expect(spec.checks.map(({ name, command }) => [name, command])).toEqual([
    ["tests", "cd packages/a && npm test"],
    ["grep -q below a.txt", "cd packages/a && grep -q below a.txt"],
  ]);
  expect(spec.setup?.command).toBe("cd packages/a && test -f all.sh");
  expect(spec.protect.config).toContain("packages/a/all.sh");
  const run = await place.start(["run", "make it", ...given], { cwd }).done;
  expect([run.code, run.stderr]).toEqual([
    0,
    expect.stringContaining("checks and setup run where they were given, in packages/a"),
  ]);
  // The line that started it says the same again only where it was said.
  const again = await place.start(["resume", ...given], { cwd }).done;
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is verified")]);
  expect((await place.pawl("resume", ...given)).stderr).toContain("differs: the run has");
});

it(
  "`pawl check` runs a check where it is given, and those of pawl.yaml at the top",
  { timeout: LIMIT_MS },
  async () => {
    const place = await cliPlace({ files: { ...FILES, "pawl.yaml": "checks: [grep -q top a.txt]\n" } });
    const cwd = join(place.repository.path, "packages/a");
    expect(await place.start(["check"], { cwd }).done).toMatchObject({ code: 0 });
    const here = await place.start(["check", "--check", "grep -q below a.txt"], { cwd }).done;
    expect([here.code, here.stderr]).toEqual([
      0,
      expect.stringContaining("checks run where they were given, in packages/a"),
    ]);
    mkdirSync(join(cwd, "build"));
    const ignored = await place.start(["check", "--check", "true"], { cwd: join(cwd, "build") }).done;
    expect([ignored.code, ignored.stderr]).toEqual([
      2,
      expect.stringContaining("no file in packages/a/build would be committed"),
    ]);
  },
);

it("says that a program is missing in the folder the check was given in", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ files: FILES, shellAgent: { 1: ["true", CLAIM] } });
  const cwd = join(place.repository.path, "packages/a");
  const missing = await place.start(["run", "x", "--check", "no-such-program-here"], { cwd }).done;
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("command not found")]);
});
