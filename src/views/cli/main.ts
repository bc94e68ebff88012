#!/usr/bin/env node
/**
 * Entry of `pawl`: what must be set before anything is loaded. The compile cache is in a folder of the user's own: Node's
 * usual place is below the shared temporary directory, where somebody else could have put code into it first.
 */
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { setFlagsFromString } from "node:v8";

// A driver waits most of the time: a young generation that stays small from the start saves some 15 MB.
setFlagsFromString("--semi-space-growth-factor=1");

const cacheHome = process.env["XDG_CACHE_HOME"] ?? "";
enableCompileCache(join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), ".cache"), "pawl", "compiled"));
const { main } = await import("./program.ts");
process.exitCode = await main(process.argv.slice(2));
