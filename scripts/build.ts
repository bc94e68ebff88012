/** What users run; `node scripts/build.ts bench`: the programs that the benchmarks start, as users would run them. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { bundle, ROOT, source } from "./bundle.ts";

if (process.argv[2] === "bench") {
  const folder = join(ROOT, "bench");
  const programs = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const entries = programs.map((name) => [basename(name, ".ts"), join(folder, name)] as const);
  await bundle({ entries: Object.fromEntries(entries), folder: join(ROOT, ".cache/bench/bench") });
} else {
  const entries = {
    index: source("index.ts"),
    "views/cli/main": source("views/cli/main.ts"),
    "checks/requirement/worker": source("checks/requirement/worker.ts"),
  };
  await bundle({ entries, folder: join(ROOT, "dist") });
}
