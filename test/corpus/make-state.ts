/**
 * Writes what each file of the corpus folds to (`node test/corpus/make-state.ts`). Needed when the state's shape is
 * changed on purpose: then the difference is looked at, field by field, and its meaning must be the same.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stateOf } from "./fold-state.ts";

for (const name of globSync("*.jsonl", { cwd: import.meta.dirname })) {
  const file = join(import.meta.dirname, name);
  writeFileSync(file.replace(/\.jsonl$/, ".state.json"), stateOf(readFileSync(file, "utf8")));
}
