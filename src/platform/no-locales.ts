/**
 * zod brings its messages in 60 languages along, as 60 modules: more than half of what loading it takes, 8 MB among it.
 * pawl speaks English and says most things in words of its own.
 */
import { registerHooks } from "node:module";

const LANGUAGES = "/zod/v4/locales/index.js";
const ENGLISH = 'export { default as en } from "./en.js";';

/** For programs that are pawl's alone, before zod is loaded: from then on its list of languages has one. */
export function loadEnglishOnly(): void {
  registerHooks({
    load: (url, context, nextLoad) =>
      url.endsWith(LANGUAGES) ? { format: "module", source: ENGLISH, shortCircuit: true } : nextLoad(url, context),
  });
}
