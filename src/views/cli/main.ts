#!/usr/bin/env node
/** Entry of `pawl`: switches the compile cache on before anything worth caching is loaded. */
import { enableCompileCache } from "node:module";

enableCompileCache();
const { main } = await import("./program.ts");
process.exitCode = await main(process.argv.slice(2));
