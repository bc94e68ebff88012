/** A run whose output nobody can take any more: a closed terminal, a log on a full disk. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLAIM, cliPlace } from "../support/cli.ts";

const CLI = process.env["PAWL_TEST_CLI"] ?? join(import.meta.dirname, "../../dist/views/cli/main.js");

it.each([[[]], [["--json"]]])("drives on when its output cannot be written %j", async (flags) => {
  const place = await cliPlace({ shellAgent: { 1: ["echo x > out.txt", CLAIM] } });
  // Every write to it fails, as on a terminal that was closed.
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [CLI, "run", "write it", "--check", "test -f out.txt", ...flags], {
    cwd: place.repository.path,
    env: { ...place.env },
    stdio: ["ignore", full, full],
  });
  closeSync(full);
  expect(await once(child, "close")).toEqual([0, null]);
  expect((await place.pawl("status")).stdout).toContain("ended: verified");
});

it("ends without a complaint when whoever reads what it prints has gone", async () => {
  const place = await cliPlace({ shellAgent: { 1: ["echo x > out.txt", CLAIM] } });
  expect((await place.pawl("run", "write it", "--check", "test -f out.txt")).code).toBe(0);
  const commands = ["diff", "show", "status", "config schema", "config show", "run x --dry-run"];
  const ends = commands.map(async (words) => {
    const child = spawn(process.execPath, [CLI, ...words.split(" ")], {
      cwd: place.repository.path,
      env: { ...place.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    return [words, (await once(child, "close")) as unknown, said.includes("EPIPE")];
  });
  expect(await Promise.all(ends)).toEqual(commands.map((words) => [words, [0, null], false]));
});

it("says in a line that what was asked for cannot be written", async () => {
  const place = await cliPlace({ shellAgent: { 1: ["echo x > out.txt", CLAIM] } });
  expect((await place.pawl("run", "write it", "--check", "test -f out.txt")).code).toBe(0);
  const commands = ["status", "runs", "diff", "config show", "verify", "--help", "run --help", "--version"];
  for (const words of commands) {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [CLI, ...words.split(" ")], {
      cwd: place.repository.path,
      env: { ...place.env },
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect([words, status]).toEqual([words, 5]);
    expect(stderr).toContain("pawl: what was asked for cannot be written: ENOSPC");
    expect(stderr).not.toMatch(/^\s+at /m);
  }
});
