/** Before all tests: the programs that tests start many times, built as pawl itself is, since loading sources takes longer. */
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { bundle, ROOT } from "../../scripts/bundle.ts";

const PROGRAMS = join(ROOT, ".cache/test");
const NAMES = ["driver", "asking"];

const fixture = (name: string): string => join(ROOT, "test/fixtures", `${name}.mjs`);
const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export async function setup(): Promise<void> {
  const sources = [...globSync(join(ROOT, "{src,scripts}/**/*.ts")), ...NAMES.map(fixture)];
  const made = Math.min(...NAMES.map((name) => changedAt(join(PROGRAMS, `${name}.js`))));
  if (made > Math.max(...sources.map(changedAt))) return;
  await bundle({ entries: Object.fromEntries(NAMES.map((name) => [name, fixture(name)])), folder: PROGRAMS });
}
