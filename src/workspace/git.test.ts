import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { waitFor } from "../../test/support/temp.ts";
import { openGit, pipe, type Git } from "./git.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

/** A driver that outlives Ctrl-C, with a git that is still at work when it comes. */
const DRIVER = `
process.on("SIGINT", () => undefined);
const [module, gitDir, home] = process.argv.slice(1);
const { openGit } = await import(module);
const git = openGit({ gitDir, home, globalConfig: "/dev/null", path: process.env.PATH });
const { code, stdout } = await git.run(["-c", "alias.nap=!touch " + home + "/at-work; sleep 1; echo finished", "nap"]);
process.stdout.write(code + " " + stdout);
`;

it("lets git finish when a Ctrl-C is told to the whole foreground group", async () => {
  const args = [join(import.meta.dirname, "git.ts"), join(place.repo, ".git"), place.home];
  const child = spawn(process.execPath, ["--input-type=module", "-e", DRIVER, "--", ...args], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const closed = once(child, "close");
  await waitFor(() => existsSync(join(place.home, "at-work")));
  process.kill(-(child.pid ?? 0), "SIGINT");
  await closed;
  expect(said).toBe("0 finished\n");
});

/** A program in git's place. */
function gitThat(name: string, does: string): Git {
  const bin = join(place.home, name);
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${does}\n`);
  chmodSync(join(bin, "git"), 0o755);
  const path = `${bin}:${process.env["PATH"]}`;
  return openGit({ gitDir: join(place.repo, ".git"), home: place.home, globalConfig: "/dev/null", path });
}

it("ends a pipe whose right side has gone before the left one speaks, which has more to say than anybody holds", async () => {
  const left = { git: gitThat("left", "sleep 0.5; head -c 1000000 /dev/zero"), args: ["pack-objects"], input: "" };
  const right = { git: gitThat("right", "echo 'not a git repository' >&2; exit 128"), args: ["unpack-objects"] };
  await expect(pipe(left, right)).rejects.toThrow("git unpack-objects failed: not a git repository");
});
