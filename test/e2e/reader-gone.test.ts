/** A run whose output nobody can take any more: a closed terminal, a log on a full disk. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";

const CLI = process.env["PAWL_TEST_CLI"] ?? join(import.meta.dirname, "../../dist/views/cli/main.js");

it.each([[[]], [["--json"]]])("drives on when its output cannot be written %j", async (flags) => {
  const write = { name: "Write", input: { file_path: "out.txt", content: "x\n" } };
  const place = await cliPlace({ script: byIteration({ 1: [{ tools: [write] }, { text: CLAIM }] }) });
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
