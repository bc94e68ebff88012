/** Programs of the machine that tests drive: what `scripts/install-system.sh` installs, and where they keep things. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { tempDir } from "./temp.ts";

/** Where `npm test` runs, and on machines that test for people, everything was installed before. */
const IS_COMPLETE =
  process.platform === "linux" && (process.env["CI"] === "true" || process.env["PAWL_TEST_REPORT"] !== undefined);

export const works = (command: string): boolean =>
  spawnSync("/bin/sh", ["-c", command], { stdio: "ignore" }).status === 0;

/** Whether tests that need it are left out. Where all was installed they are not: they fail. */
export const isMissing = (command: string): boolean => !IS_COMPLETE && !works(command);

/** For compilers: nothing from a network or this user's settings, what they keep in a folder of the test file. */
export function toolchains(): Record<string, string> {
  const caches = tempDir("toolchains");
  const rustup = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");
  return {
    GOCACHE: join(caches, "go"),
    GOPATH: join(caches, "gopath"),
    GOENV: "off",
    GOPROXY: "off",
    // Newer ones would fetch the version that a module names.
    GOTOOLCHAIN: "local",
    CARGO_HOME: join(caches, "cargo"),
    CARGO_NET_OFFLINE: "true",
    ...(existsSync(rustup) ? { RUSTUP_HOME: rustup } : {}),
  };
}
