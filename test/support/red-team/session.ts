/**
 * A program: opens a fence and runs every escape in it, as whoever it is started as; says on standard output what each
 * came to, as seen from outside. Arguments: an empty folder of its own.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bwrapFence } from "../../../src/platform/fence.ts";
import { USUAL_LIMITS } from "../../../src/platform/fence/limits.ts";
import type { Place } from "../../../src/platform/fence/places.ts";
import { runProcess } from "../../../src/platform/process.ts";
import { ESCAPES } from "./escapes.ts";
import { emptyFolder, openOutside, SECRET } from "./outside.ts";

const LIMIT_MS = 60_000;

const root = process.argv[2] ?? "";
process.env["CANARY_TOKEN"] = SECRET;
const outside = await openOutside(root);
const { work } = outside.scene;
const home = join(root, "home");
mkdirSync(home);
const places: Place[] = [work, home].map((path) => ({ path, access: "write" }));
const fence = await bwrapFence({ run: "red-team", places });
if (fence === undefined) throw new Error("bubblewrap does not work here: install it with scripts/install-system.sh");
const results: { name: string; wrongs: string[]; ms: number }[] = [];
for (const escape of ESCAPES) {
  const record = await runProcess({
    command: "/bin/sh",
    // The plants are for programs outside; what is inside shall find the real ones.
    args: ["-c", `PATH="\${PATH#*:}"; ${escape.script}`],
    cwd: work,
    env: {
      ...outside.variables,
      PATH: `${join(work, "bin")}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
      HOME: home,
    },
    timeoutMs: LIMIT_MS,
    confine: (command, args) =>
      fence.wrap(command, args, { cwd: work, places, hidden: [], network: "none", limits: USUAL_LIMITS }),
  });
  const wrongs = [...outside.look(escape), ...(record.timedOut === null ? [] : ["it took too long"])];
  results.push({ name: escape.name, wrongs, ms: Math.round(record.durationMs) });
  emptyFolder(work, { but: ["bin"] });
}
fence.close();
await outside.close();
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), level: fence.level, results }));
