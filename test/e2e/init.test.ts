/** `pawl init` in repositories of people: what it finds, writes, asks and refuses. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";

const CLI = join(import.meta.dirname, "../../dist/views/cli/main.js");
const NODE = join(import.meta.dirname, "../../node_modules/.bin/node");
const PACKAGE = JSON.stringify({ scripts: { test: "test -f made.txt", lint: "true" } });

it("writes a pawl.yaml that the next run uses, and does not write over it", async () => {
  const place = await cliPlace({
    files: { "package.json": PACKAGE },
    script: byIteration({ 1: [{ tools: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: CLAIM }] }),
  });
  const first = await place.pawl("init");
  const path = join(place.repository.path, "pawl.yaml");
  expect([first.code, first.stdout]).toEqual([0, `${path}\n`]);
  expect(first.stderr).toContain("check: npm test\n");
  expect(first.stderr).toContain("left as comments: npm run lint");
  const written = readFileSync(path, "utf8");
  expect(written).toContain("checks:\n  - tests=npm test\n");
  // pawl is installed elsewhere: a path would lead nowhere.
  expect(written).not.toContain("$schema");

  const again = await place.pawl("init");
  expect([again.code, again.stdout, again.stderr]).toEqual([
    2,
    "",
    expect.stringMatching(/is there already\n.*--force/),
  ]);
  expect(readFileSync(path, "utf8")).toBe(written);
  expect((await place.pawl("init", "--force", "--check", "make it: so")).code).toBe(0);
  expect(readFileSync(path, "utf8")).toContain('  - "check=make it: so"\n');

  expect((await place.pawl("init", "--force", "--yes")).code).toBe(0);
  place.repository.commit("settings");
  const run = await place.pawl("run", "make it");
  expect([run.code, run.stdout]).toEqual([0, "verified pawl/make-it\n"]);
  const origin = (await place.pawl("config", "show", "--origin")).stdout;
  expect(origin).toMatch(/^checks +tests=npm test +.*pawl\.yaml$/m);
});

it("leaves out what the machine lacks, takes the tests of every folder, and what it wrote judges", async () => {
  const place = await cliPlace({
    files: {
      "web/package.json": JSON.stringify({ scripts: { test: "test -f made.txt", lint: "true" } }),
      "web/made.txt": "x\n",
      "api/Makefile": "test:\n\ttrue\n",
      "py/setup.cfg": "[tool:pytest]\n[mypy]\n",
      "py/venv/bin/python": "#!/bin/sh\nexit 1\n",
    },
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
  });
  execFileSync("chmod", ["+x", join(place.repository.path, "py/venv/bin/python")]);
  const first = await place.pawl("init");
  const written = readFileSync(join(place.repository.path, "pawl.yaml"), "utf8");
  expect(written).toContain(
    'checks:\n  - "tests-api=cd api && make test"\n  - "tests-web=cd web && npm test"\n# Found too',
  );
  expect(written).toContain("# Left out, for pytest is not here: cd py && venv/bin/python -m pytest");
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("left out, for pytest")]);
  const judged = await place.pawl("check");
  expect([judged.code, judged.stdout]).toEqual([0, expect.stringMatching(/^tests-api: pass .*\ntests-web: pass /)]);
});

it("asks two questions on a terminal, with what was found as the answer", async () => {
  const place = await cliPlace({ files: { "package.json": PACKAGE } });
  const terminal = [
    "import os, pty, sys",
    "def read(fd):",
    "    data = os.read(fd, 1024)",
    "    os.write(2, data)",
    "    return data",
    "answers = [b'\\n', b'claude-opus-5-5\\n']",
    "asked = b''",
    "pid, fd = pty.fork()",
    "if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])",
    "while True:",
    "    try: data = read(fd)",
    "    except OSError: break",
    "    if not data: break",
    "    asked += data",
    "    if answers and b'] ' in asked: os.write(fd, answers.pop(0)); asked = b''",
    "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
  ].join("\n");
  const child = spawn("python3", ["-c", terminal, NODE, CLI, "init"], {
    cwd: place.repository.path,
    env: { ...place.env, TERM: "dumb" },
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect([code, said]).toEqual([0, expect.stringContaining("Which command proves the work? [npm test]")]);
  expect(said).toContain("Which model?");
  const written = readFileSync(join(place.repository.path, "pawl.yaml"), "utf8");
  expect(written).toContain("  - tests=npm test\n");
  expect(written).toMatch(/^model: claude-opus-5-5$/m);
  expect(existsSync(place.state)).toBe(false);
});
