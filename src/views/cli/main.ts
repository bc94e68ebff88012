#!/usr/bin/env node
/**
 * Entry of `pawl`: switches the compile cache on before anything worth caching is loaded. In a folder of the user's own:
 * Node's usual place is below the shared temporary directory, where somebody else could have put code into it first.
 */
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

const cacheHome = process.env["XDG_CACHE_HOME"] ?? "";
enableCompileCache(join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), ".cache"), "pawl", "compiled"));
const { main } = await import("./program.ts");
process.exitCode = await main(process.argv.slice(2));
