/** In a process of its own, as whoever it was started: what the fence of a check puts on top of starting a program. */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openRunFence } from "../src/compose/fence.ts";
import { start, type Confine } from "../src/platform/process.ts";
import { laneLayout } from "../src/workspace/layout.ts";
import { plainSpec } from "../test/support/spec.ts";
import { makePlace, median } from "./support.ts";

const ROUNDS = 200;
const WARM_ROUNDS = 10;
/**
 * Between two commands, as there is in a run, where an agent works and facts are written: the next one's sandbox is made
 * in the meantime. Commands without any time between them are a row of their own.
 */
const BETWEEN_MS = 40;
const NOTHING = "true";
/** Without a pause between them: what does nothing, and what takes less than to start Node and run one test. */
const AT_ONCE = [NOTHING, "sleep 0.01", "sleep 0.02", "sleep 0.05"];

const place = makePlace(5);
const stateDir = place.env["PAWL_HOME"] ?? "";
const environment = { PATH: place.env["PATH"] ?? "", HOME: join(place.root, "home") };

async function fenceWith(hosts: string[]) {
  const run = `r-fence-${hosts.length}`;
  const plain = plainSpec(place.repo, { run });
  const runDir = join(stateDir, "runs", run);
  mkdirSync(runDir, { recursive: true });
  return await openRunFence({
    spec: { ...plain, fence: { ...plain.fence, kind: "bwrap", network: hosts.length === 0 ? "off" : "hosts", hosts } },
    layout: laneLayout({ stateDir, repository: place.repo, run, lane: "main" }),
    stateDir,
    runDir,
    agentHome: join(runDir, "agent"),
    checkHome: join(runDir, "check-home"),
    programs: [],
    environment,
    onAttempt: () => undefined,
  });
}

async function timed(confine: Confine | undefined, command = NOTHING): Promise<number> {
  const began = performance.now();
  const [program = "", ...args] = command.split(" ");
  const { child, held } = start(program, args, {
    confine,
    stdio: ["ignore", "ignore", "ignore"],
    env: environment,
    cwd: "/",
  });
  const [code] = (await once(child, "close")) as [number | null];
  held?.release();
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  const took = performance.now() - began;
  held?.release();
  return took;
}

const [off, hosts] = [await fenceWith([]), await fenceWith(["example.com"])];
const ways = { plain: undefined, bwrap: off.check, bwrapWithHosts: hosts.check };
const times: Record<string, number[]> = {};
for (let n = 0; n < ROUNDS + WARM_ROUNDS; n += 1) {
  for (const [name, confine] of Object.entries(ways)) {
    const took = await timed(confine);
    if (n >= WARM_ROUNDS) (times[name] ??= []).push(took);
    await sleep(BETWEEN_MS);
  }
}
const atOnce: Record<string, { plain: number; bwrap: number }> = {};
for (const command of AT_ONCE) {
  const each = async (confine: Confine | undefined): Promise<number> => {
    const began = performance.now();
    for (let n = 0; n < ROUNDS; n += 1) await timed(confine, command);
    return (performance.now() - began) / ROUNDS;
  };
  atOnce[command] = { plain: await each(undefined), bwrap: await each(off.check) };
}
await Promise.all([off.close(), hosts.close()]);
place.remove();
const medians = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
console.log(JSON.stringify({ level: off.level, medians, atOnce }));
