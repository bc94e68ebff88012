/** What the fence costs: each command of a check, as root and as an ordinary user, against starting it plainly. */
import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { join } from "node:path";

const ORDINARY_UID = "1000";

interface Child {
  level: string;
  medians: Record<string, number>;
}

const round = (n: number, digits = 1): number => Number(n.toFixed(digits));

/** undefined: it could not be run as such a user here. */
function measured(as: "self" | "user"): object | undefined {
  const child = join(import.meta.dirname, "../.cache/bench/bench/fence-child.js");
  const drop = ["setpriv", "--reuid", ORDINARY_UID, "--regid", ORDINARY_UID, "--clear-groups", "--no-new-privs"];
  const [command, ...args] = [...(as === "user" ? drop : []), process.execPath, child];
  try {
    const { level, medians } = JSON.parse(
      execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
    ) as Child;
    const { plain = Number.NaN, plainAtOnce, bwrapAtOnce, plainBrief, bwrapBrief, ...fenced } = medians;
    const row = (ms = Number.NaN, base = Number.NaN) => ({
      ms: round(ms),
      onTopMs: round(ms - base),
      ratio: round(ms / base, 2),
    });
    const both = (base = Number.NaN, ms = Number.NaN) => ({ plainMs: round(base), bwrap: row(ms, base) });
    const rows = Object.entries(fenced).map(([name, ms]) => [name, row(ms, plain)] as const);
    const oneAfterAnother = { true: both(plainAtOnce, bwrapAtOnce), "sleep 0.05": both(plainBrief, bwrapBrief) };
    return { level, plainMs: round(plain), ...Object.fromEntries(rows), oneAfterAnother };
  } catch {
    return undefined;
  }
}

/** The load at the start stands with it: more than two others at work and times say little, ratios still something. */
export function fenceCost(): object {
  const load = round(loadavg()[0] ?? 0);
  const isRoot = process.getuid?.() === 0;
  const own = measured("self");
  const user = isRoot ? measured("user") : undefined;
  return { commands: 200, load, ...(isRoot ? { root: own, user } : { user: own }) };
}
