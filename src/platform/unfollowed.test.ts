import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { unfollowed } from "./unfollowed.ts";

const NOBODY = 65_534;
const LOOK = "cat plain; cat link; cat out/secret; echo x > out/new; readlink link; ls out; id -u";

/** A folder with a file, and links that lead out of it. */
function place(): { folder: string; outside: string } {
  const root = tempDir("unfollowed");
  const [folder, outside] = [join(root, "in side"), join(root, "out side")];
  for (const path of [folder, outside]) mkdirSync(path);
  for (const path of [root, folder, outside]) chmodSync(path, 0o777);
  writeFileSync(join(folder, "plain"), "inside\n");
  writeFileSync(join(outside, "secret"), "canary\n");
  symlinkSync(join(outside, "secret"), join(folder, "link"));
  symlinkSync(outside, join(folder, "out"));
  return { folder, outside };
}

const users = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? 0];

it.each(users)("no link below the folder is followed for user %i; reading links is as ever", (uid) => {
  const { folder, outside } = place();
  const words = unfollowed(folder, { uid, gid: uid });
  const [command, ...args] = [...words, "sh", "-c", LOOK];
  expect(command).toBe("/usr/bin/perl");
  const { stdout, stderr } = spawnSync(command, args, { cwd: folder, uid, gid: uid, encoding: "utf8" });
  expect(stdout).toBe(`inside\n${join(outside, "secret")}\n${uid}\n`);
  expect(stderr.match(/Too many levels of symbolic links/g)).toHaveLength(4);
  expect(existsSync(join(outside, "new"))).toBe(false);
  // Nothing of it is left for others.
  expect(spawnSync("cat", ["link"], { cwd: folder, encoding: "utf8" }).stdout).toBe("canary\n");
});
