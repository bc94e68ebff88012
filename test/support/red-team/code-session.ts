/**
 * A program: runs every attack of generated code through the local executor in a run's fence, as whoever it is started
 * as; says on standard output what each came to, as seen from outside. Arguments: an empty folder of its own.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { explainExecution, failureMessage } from "../../../src/loop/explain-execution.ts";
import { codePlace, emptyFolder } from "../code-place.ts";
import { CODE_ATTACKS } from "./code-attacks.ts";
import { isSecret, openOutside, SECRET, TOKEN } from "./outside.ts";

const MB = 1024 ** 2;
const LIMITS = { memoryBytes: 128 * MB, processes: 32, diskBytes: 8 * MB, outputBytes: MB };
/** For what never ends; whatever another limit ends has time to get there, also on a busy machine. */
const SHORT_MS = 3_000;
const LONG_MS = 60_000;

const root = process.argv[2] ?? "";
process.env["CANARY_TOKEN"] = TOKEN;
const own = join(root, "own");
mkdirSync(own);
const place = await codePlace(own);
const outside = await openOutside(root, { work: place.folder });
const journal = join(place.state, "journal.db");
writeFileSync(journal, SECRET);
const about = { ...outside.variables, PAWL: place.state };
const results: unknown[] = [];
for (const { name, language, text, ends, tells, prints } of CODE_ATTACKS) {
  emptyFolder(place.folder);
  mkdirSync(join(place.folder, ".git"));
  writeFileSync(join(place.folder, ".git/config"), "untouched");
  const code = { language, text: text(about) };
  const execution = await place.run(language, code.text, {
    ...LIMITS,
    timeoutMs: ends.includes("timeout") ? SHORT_MS : LONG_MS,
  });
  const { kind } = explainExecution(execution, code);
  const told = failureMessage(execution, code);
  const said = [execution.stdout.text, execution.stderr.text, told].join("\n");
  const wrongs = [
    ...outside.look({ name, script: "" }),
    ...(readFileSync(journal, "utf8") === SECRET ? [] : ["the journal was changed"]),
    ...(readFileSync(join(place.folder, ".git/config"), "utf8") === "untouched" ? [] : ["the repository was changed"]),
    ...(isSecret(said) ? ["a secret was said"] : []),
    ...(ends.includes(kind) ? [] : [`it came to ${kind}: ${told}`]),
    ...(tells === undefined || told.includes(tells) ? [] : [`the reason was not told: ${told}`]),
    ...(prints === undefined || prints.test(execution.stdout.text) ? [] : [`it was not tried: ${said}`]),
  ];
  results.push({ name, kind, wrongs, ms: execution.durationMs });
}
await place.close();
await outside.close();
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), level: place.fence.level, run: place.name, results }));
