/** What a check can do to the next one, tried as whoever runs the tests and, from root, as an ordinary user. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";

const PROGRAM = join(import.meta.dirname, "../../test/support/layered-program.ts");
const LIMIT_MS = 180_000;
const ORDINARY = ["--reuid", "1000", "--regid", "1000", "--clear-groups", "--no-new-privs"];

interface Told {
  uid: number;
  isolation: string;
  worst: [string, string];
  isUnchanged: boolean;
  isSeenAgain: boolean;
  beside: string[];
  next: [string, string];
}

function told(who: "self" | "user"): Told {
  const program = [process.execPath, PROGRAM] as const;
  const [command, ...args] = who === "user" ? (["setpriv", ...ORDINARY, ...program] as const) : program;
  const env = { PATH: "/usr/bin:/bin", HOME: tempDir("home") };
  return JSON.parse(execFileSync(command, args, { encoding: "utf8", env, timeout: LIMIT_MS })) as Told;
}

const isRoot = process.getuid?.() === 0;
describe.each(isRoot ? (["self", "user"] as const) : (["self"] as const))("as %s", (who) => {
  it(
    "a check that writes, deletes, renames and closes files changes nothing for any other",
    { timeout: LIMIT_MS },
    () => {
      const { isolation, worst, isUnchanged, isSeenAgain, beside, next, uid } = told(who);
      expect(uid === 0).toBe(isRoot && who === "self");
      expect(isolation).toMatch(/^overlay at the workspace's path, bwrap/);
      expect(worst).toEqual(["pass", ""]);
      expect({ isUnchanged, isSeenAgain }).toEqual({ isUnchanged: true, isSeenAgain: true });
      expect(beside).toEqual(["pass", "pass"]);
      expect(next).toEqual(["pass", "two\nn\ndep\n"]);
    },
  );
});
