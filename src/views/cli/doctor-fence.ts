/** What holds agents and checks here: which fence there is, and `doctor --fence`, which tries to get out of it. */
import { fenceKind } from "../../compose/fence.ts";
import { tryFence, type Tried } from "../../compose/fence-trial.ts";
import { EXIT, UsageError } from "../../errors.ts";
import { programAt, type FenceKind } from "../../platform/fence.ts";
import { fenceAdvice } from "../../platform/fence/advice.ts";
import { counted } from "./format.ts";
import type { Finding } from "./doctor-checks.ts";
import { print, printJson } from "./output.ts";

const KINDS = ["auto", "bwrap", "docker", "seatbelt"] as const;

/** Also for `pawl doctor` as a whole. */
export async function fenceFinding(): Promise<Finding[]> {
  const name = "fence";
  const kind = await fenceKind("auto");
  if (kind === "none") {
    const { why, fix } = fenceAdvice();
    return [{ name, is: "warn", says: `unfenced: the agent and the checks can reach whatever you can; ${why}`, fix }];
  }
  const says = `${kind}; \`pawl doctor --fence\` tries to get out of it`;
  if (programAt("socat") !== undefined) return [{ name, is: "ok", says }];
  return [{ name, is: "warn", says: `${kind}, but --network and --allow-host need socat`, fix: "apt install socat" }];
}

/** Returns the exit code. */
export async function tryFenceHere(asked: string, { json }: { json: boolean }): Promise<number> {
  const kind = await fenceKind(kindOf(asked));
  if (kind === "none") {
    const { why, fix } = fenceAdvice();
    if (json) printJson({ v: 1, fence: "none", held: false, why, fix, probes: [] });
    else print(`there is no fence to try: ${why}\n  → ${fix}`);
    return EXIT.failed;
  }
  const { level, tried } = await tryFence(kind);
  const held = tried.every(({ is }) => is !== "broken");
  if (json) printJson({ v: 1, fence: kind, level, held, probes: tried });
  else print(table(tried, { kind, level }));
  return held ? EXIT.ok : EXIT.failed;
}

function kindOf(asked: string): FenceKind | "auto" {
  const found = KINDS.find((kind) => kind === asked);
  if (found !== undefined) return found;
  throw new UsageError(`--fence ${asked} cannot be tried`, { hint: `one of: ${KINDS.join(", ")}` });
}

const WORDS = { held: "held", broken: "BROKEN", untried: "-" } as const;
const UNTESTED: readonly FenceKind[] = ["docker", "seatbelt"];

function table(tried: readonly Tried[], { kind, level }: { kind: FenceKind; level: string }): string {
  const lines = tried.map(
    ({ name, is }) =>
      `${WORDS[is].padEnd(7)} ${name}${is === "untried" ? " (not tried: there is nothing here to try it with)" : ""}`,
  );
  const count = (is: Tried["is"]): number => tried.filter((one) => one.is === is).length;
  const broken = count("broken");
  const last =
    broken === 0
      ? `held: ${count("held")} of ${counted(tried.length, "way")} out, ${count("untried")} not tried`
      : `BROKEN: ${counted(broken, "way")} out; do not run what you do not trust here`;
  const note = UNTESTED.includes(kind) ? [`${kind} is written but was never tested by its authors`] : [];
  return [level, "", ...lines, "", last, ...note].join("\n");
}
