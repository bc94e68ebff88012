/**
 * What makes a process of pawl's own start fast and stay small; to be called before anything else is loaded. Not for
 * programs that use pawl as a library: it is their process.
 */
import { registerHooks } from "node:module";
import { setFlagsFromString } from "node:v8";

const LANGUAGES = "/zod/v4/locales/index.js";
const ENGLISH = 'export { default as en } from "./en.js";';

export function leanStart(): void {
  // A driver waits most of the time: a young generation that stays small from the start saves some 15 MB.
  setFlagsFromString("--semi-space-growth-factor=1");
  // What runs hot here runs for half a second. The last of V8's compilers takes longer than it saves, and 7 MB.
  setFlagsFromString("--no-opt");
  // zod brings its messages in 60 languages along, as 60 modules: more than half of what loading it takes.
  registerHooks({
    load: (url, context, nextLoad) =>
      url.endsWith(LANGUAGES) ? { format: "module", source: ENGLISH, shortCircuit: true } : nextLoad(url, context),
  });
}
