#!/usr/bin/env node
/**
 * Entry of `pawl`: refuses a Node that is too old and a system that it does not run on, and keeps what is compiled. The
 * compile cache is in a folder of the user's own: Node's usual place is below the shared temporary directory, where
 * somebody else could have put code into it first.
 */
import nodeModule from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { refusedSystem } from "../../platform/system.ts";

const MIN_NODE = [22, 18] as const;
const EXIT_USAGE = 2;

const refuse = (what: string, hint: string): void => {
  process.stderr.write(`pawl: ${what}\n      ${hint}\n`);
  process.exitCode = EXIT_USAGE;
};

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const system = refusedSystem();
if (system !== undefined) refuse(system.what, system.hint);
else if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  refuse(
    `this is Node ${process.versions.node}; at least ${MIN_NODE.join(".")} is needed`,
    "install a newer one, e.g. from nodejs.org",
  );
} else {
  const cacheHome = process.env["XDG_CACHE_HOME"] ?? "";
  nodeModule.enableCompileCache(
    join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), ".cache"), "pawl", "compiled"),
  );
  const { main } = await import("./program.ts");
  process.exitCode = await main(process.argv.slice(2));
}
