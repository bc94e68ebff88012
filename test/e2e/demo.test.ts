/** `pawl demo`: what a newcomer sees first must work without a key, a network or any setting. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { cliPlace } from "../support/cli.ts";
import { tempDir } from "../support/temp.ts";

it("fails, is caught with a false claim, and ends verified; the real agent wrote the files", async () => {
  const place = await cliPlace({});
  const { code, stdout, stderr } = await place.start(["demo"], { cwd: tempDir("anywhere") }).done;
  const repository = /cd (\S+) && git log/.exec(stderr)?.[1] ?? "";
  try {
    expect(stdout).toMatch(/^verified pawl\/\S+\n$/);
    expect(code).toBe(0);
    for (const words of ["its model is a script", "tests: FAIL", "claim-refused", "tests: pass", "fenced: bwrap"]) {
      expect(stderr).toContain(words);
    }
    expect(readFileSync(join(repository, "slug.js"), "utf8")).toContain(".trim()");
    const git = (...args: string[]) => execFileSync("git", args, { cwd: repository, encoding: "utf8" }).trim();
    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "--format=%(trailers:key=Pawl-Verdict,valueonly)", "main..HEAD")).toMatch(/^green[^]*red/);
    const look = /^ {2}(PAWL_HOME=.* show --iteration 2 ).*$/m.exec(stderr)?.[1] ?? "false";
    expect(execFileSync("sh", ["-c", look], { cwd: repository, encoding: "utf8" })).toContain("claim-refused");
    expect(existsSync(place.state)).toBe(false);
  } finally {
    if (repository !== "") rmSync(dirname(repository), { recursive: true, force: true });
  }
});

it("leaves nothing behind with --no-keep", async () => {
  const TMPDIR = tempDir("tmp");
  const place = await cliPlace({ env: { TMPDIR } });
  const { code, stderr } = await place.start(["demo", "--no-keep"]).done;
  expect(code).toBe(0);
  expect(stderr).not.toContain("git log");
  expect(readdirSync(TMPDIR)).toEqual([]);
});
