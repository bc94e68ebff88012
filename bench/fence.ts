/** What the fence costs: each command of a check, as root and as an ordinary user, against starting it plainly. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";

const ORDINARY_UID = "1000";

interface Child {
  level: string;
  medians: Record<string, number>;
  /** Means, of commands that follow each other without a pause. */
  atOnce: Record<string, { plain: number; bwrap: number }>;
}

const round = (n: number, digits = 1): number => Number(n.toFixed(digits));

/** undefined: it could not be run as such a user here. */
function measured(as: "self" | "user"): object | undefined {
  const child = join(import.meta.dirname, "../.cache/bench/bench/fence-child.js");
  const drop = ["setpriv", "--reuid", ORDINARY_UID, "--regid", ORDINARY_UID, "--clear-groups", "--no-new-privs"];
  const [command, ...args] = [...(as === "user" ? drop : []), process.execPath, child];
  const place = repositoryPlace();
  try {
    const { level, medians, atOnce } = JSON.parse(
      execFileSync(command, args, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, TMPDIR: place.path },
      }),
    ) as Child;
    const { plain = Number.NaN, ...fenced } = medians;
    const row = (ms: number, base: number) => ({
      ms: round(ms),
      onTopMs: round(ms - base),
      ratio: round(ms / base, 2),
    });
    const rows = Object.entries(fenced).map(([name, ms]) => [name, row(ms, plain)] as const);
    const oneAfterAnother = Object.entries(atOnce).map(
      ([name, { plain: base, bwrap }]) => [name, { plainMs: round(base), bwrap: row(bwrap, base) }] as const,
    );
    return {
      level,
      plainMs: round(plain),
      ...Object.fromEntries(rows),
      oneAfterAnother: Object.fromEntries(oneAfterAnother),
    };
  } catch {
    return undefined;
  } finally {
    place.remove();
  }
}

/** Outside the folders for temporary files, as repositories are: below those, folders are made anew for every command. */
function repositoryPlace(): { path: string; remove: () => void } {
  if (process.getuid?.() !== 0) return { path: tmpdir(), remove: () => undefined };
  const path = mkdtempSync("/var/pawl-bench-");
  chmodSync(path, 0o1777);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The load at the start stands with it: more than two others at work and times say little, ratios still something. */
export function fenceCost(): object {
  const load = round(loadavg()[0] ?? 0);
  const isRoot = process.getuid?.() === 0;
  const own = measured("self");
  const user = isRoot ? measured("user") : undefined;
  return { commands: 200, load, ...(isRoot ? { root: own, user } : { user: own }) };
}
