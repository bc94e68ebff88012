/**
 * A program: opens a fence and runs every escape in it, as whoever it is started as; says on standard output what each
 * came to, as seen from outside. Before, those that harm only canaries without a fence: there they have to get somewhere.
 * Arguments: an empty folder of its own.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bwrapFence } from "../../../src/platform/fence.ts";
import type { Inside } from "../../../src/platform/fence/bwrap.ts";
import { USUAL_LIMITS } from "../../../src/platform/fence/limits.ts";
import type { Place } from "../../../src/platform/fence/places.ts";
import { PERL } from "../../../src/platform/perl.ts";
import { runProcess, type Confine } from "../../../src/platform/process.ts";
import { MISTAKE, type Escape } from "./escape.ts";
import { ESCAPES } from "./escapes.ts";
import { emptyFolder, openOutside, TOKEN, type Outside } from "./outside.ts";

const LIMIT_MS = 60_000;
const SETTLE_MS = 5;
/** Of an escape without a fence: on a busy machine a connection is given up or told too late. */
const CONTROL_TRIES = 3;
/** How long a listener has to tell of what connected, from the second try on. */
const SETTLE_LONGER_MS = 500;

interface Tried {
  outside: Outside;
  home: string;
  confine?: Confine;
  settleMs?: number;
}

const root = process.argv[2] ?? "";
process.env["CANARY_TOKEN"] = TOKEN;

async function attempt(
  escape: Escape,
  { outside, home, confine, settleMs = SETTLE_MS }: Tried,
): Promise<{ wrongs: string[]; ms: number }> {
  const { work } = outside.scene;
  let said = "";
  const record = await runProcess({
    command: "/bin/sh",
    // The plants are for programs outside; what is inside shall find the real ones.
    args: ["-c", `: > "$WORK/began"; PATH="\${PATH#*:}"; ${escape.script}`],
    cwd: work,
    env: {
      ...outside.variables,
      PATH: `${join(work, "bin")}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
      HOME: home,
    },
    timeoutMs: LIMIT_MS,
    confine,
    onOutput: (chunk) => void (said += Buffer.from(chunk).toString("latin1")),
  });
  // What has connected is only told to the listeners here when they get their turn.
  await sleep(settleMs);
  const mistake = MISTAKE.exec(said)?.[0];
  const wrongs = [
    ...(record.startError === null ? [] : [`it was not started: ${record.startError.message}`]),
    ...(existsSync(join(work, "began")) ? [] : [`it never began: ${said}`]),
    ...(record.timedOut === null ? [] : ["it took too long"]),
    ...(mistake === undefined ? [] : [`it was not tried: ${mistake}`]),
  ];
  return { wrongs, ms: Math.round(record.durationMs) };
}

/** Without a fence, each with canaries of its own: it has to get somewhere once. */
async function control(escape: Escape, number: number): Promise<string[]> {
  let wrongs: string[] = [];
  for (let n = 0; n < CONTROL_TRIES; n += 1) {
    wrongs = await controlOnce(escape, { own: join(root, `control-${number}-${n}`), isFirst: n === 0 });
    if (wrongs.length === 0) break;
  }
  return wrongs;
}

async function controlOnce(escape: Escape, { own, isFirst }: { own: string; isFirst: boolean }): Promise<string[]> {
  mkdirSync(join(own, "home"), { recursive: true });
  const outside = await openOutside(own);
  try {
    const settleMs = isFirst ? SETTLE_MS : SETTLE_LONGER_MS;
    const { wrongs } = await attempt(escape, { outside, home: join(own, "home"), settleMs });
    const seen = outside.look(escape);
    const isSeen = seen.length >= (escape.works ?? 1);
    return [...wrongs, ...(isSeen ? [] : [`it gets nowhere without a fence either: ${seen.join(", ")}`])];
  } finally {
    await outside.close();
  }
}

const results: { way: string; name: string; wrongs: string[]; ms: number }[] = [];
const controls: { name: string; wrongs: string[] }[] = [];
for (const [number, escape] of ESCAPES.entries())
  if (escape.works !== undefined) controls.push({ name: escape.name, wrongs: await control(escape, number) });

const outside = await openOutside(root);
const { work } = outside.scene;
const home = join(root, "home");
mkdirSync(home);
const places: Place[] = [work, home].map((path) => ({ path, access: "write" }));
// With layers an ordinary user's commands are copied, too.
const layers = { trial: join(root, "layers/trial"), mounts: join(root, "layers/mounts") };
for (const path of Object.values(layers)) mkdirSync(path, { recursive: true });
const fence = await bwrapFence({
  run: "red-team",
  places: [...places, { path: join(root, "layers"), access: "write" }],
  layers,
});
if (fence === undefined) throw new Error("bubblewrap does not work here: install it with scripts/install-system.sh");
const inside: Inside = { cwd: work, places, hidden: [], network: "none", limits: USUAL_LIMITS };
/** How the sandbox of an attempt came to be. As checks have them: copied, most of them ahead of time. As agents: neither. */
const ways = { ahead: 0, copied: 0, bwrap: 0 };
const asChecks: Confine = (command, args) => {
  const { become, ...wrapped } = fence.wrap(command, args, { ...inside, isRepeated: true });
  return {
    ...wrapped,
    become(request) {
      const became = become?.(request);
      ways[became !== undefined ? "ahead" : wrapped.command === PERL ? "copied" : "bwrap"] += 1;
      return became;
    },
  };
};
const asAgents: Confine = (command, args) => {
  ways.bwrap += 1;
  return fence.wrap(command, args, inside);
};
for (const [way, confine] of Object.entries({ asAgents, asChecks })) {
  for (const escape of ESCAPES) {
    const { wrongs, ms } = await attempt(escape, { outside, home, confine });
    results.push({ way, name: escape.name, wrongs: [...outside.look(escape), ...wrongs], ms });
    emptyFolder(work, { but: ["bin"] });
  }
}
fence.close();
await outside.close();
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), level: fence.level, ways, controls, results }));
