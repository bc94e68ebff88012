/** What users run; `node scripts/build.ts bench`: the programs that the benchmarks start, as users would run them. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { APART, bundle, ROOT, source, type Together } from "./bundle.ts";
import { writeTypes } from "./types.ts";

const command = (name: string): string => source(`views/cli/commands/${name}.ts`);
/** Loads little, and is typed by people while a run is going on. */
const QUICK = [
  "logs",
  "show",
  "diff",
  "watch",
  "runs",
  "answer",
  "steer",
  "interrupt",
  "pause",
  "stop",
  "model",
  "budget",
  "tasks",
  "memory",
];

/** Shown or said at once, to whoever asked for no command or a wrong one. */
const AT_ONCE = ["version.ts", "views/cli/help.ts", "views/cli/wrong-line.ts", "views/cli/complete.ts"];

/** What one moment of a run needs, as one part. A command that needs some of a part loads it all. */
const LOADED_TOGETHER: Together = [
  // Before there is a cache for what is compiled.
  [APART, [source("views/cli/main.ts")]],
  ["every-command", [source("views/cli/program.ts")]],
  ["to-look", [command("status")]],
  [APART, [...QUICK.map(command), ...AT_ONCE.map(source)]],
  ["to-start", [command("run")]],
  ["to-drive", [source("views/cli/drive.ts")]],
];

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
  await bundle({ entries, folder: join(ROOT, "dist"), together: LOADED_TOGETHER, plain: ["views/cli/main"] });
  writeTypes();
}
