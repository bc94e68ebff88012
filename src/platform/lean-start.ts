/**
 * What makes a process of pawl's own start fast and stay small; to be called before anything else is loaded. Not for
 * programs that use pawl as a library: it is their process.
 */
// Node's own modules come with compiled code that V8 refuses once a flag is set: what is needed anyway is loaded before.
import "node:child_process";
import "node:crypto";
import "node:fs";
import { registerHooks } from "node:module";
import "node:sqlite";
import { setFlagsFromString } from "node:v8";

/** Of pawl's own compiled code, which this file is part of, and of zod's: both are ES modules and nothing else. */
const OWN = new URL("../", import.meta.url).href;
const ZOD = "/node_modules/zod/v4/";
const LANGUAGES = "/zod/v4/locales/index.js";
const ENGLISH = 'export { default as en } from "./en.js";';

export function leanStart(): void {
  // A driver waits most of the time: a young generation that stays small from the start saves some 15 MB.
  setFlagsFromString("--semi-space-growth-factor=1");
  // What runs hot here runs for half a second. The last of V8's compilers takes longer than it saves, and 7 MB.
  setFlagsFromString("--no-opt");
  // zod brings its messages in 60 languages along, as 60 modules: more than half of what loading it takes.
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      isPlain(specifier, context)
        ? { url: new URL(specifier, context.parentURL).href, format: "module", shortCircuit: true }
        : nextResolve(specifier, context),
    load: (url, context, nextLoad) =>
      url.endsWith(LANGUAGES) ? { format: "module", source: ENGLISH, shortCircuit: true } : nextLoad(url, context),
  });
}

/** Once a driver has read its journal nothing runs hot any more: what the other compiler adds would be 4 MB. */
export function leanDriving(): void {
  setFlagsFromString("--no-maglev");
}

/**
 * A file named in full, next to a file that Node has found already: looking at links, folders and package.json again for
 * each of some 200 is half of the time it takes to load them.
 */
function isPlain(specifier: string, { parentURL = "" }: { parentURL?: string | undefined }): boolean {
  if (!specifier.startsWith(".") || !specifier.endsWith(".js")) return false;
  return parentURL.startsWith(OWN) || parentURL.includes(ZOD);
}
