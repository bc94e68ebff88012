/** What holds agents and checks here: which fence there is, and `doctor --fence`, which tries to get out of it. */
import { fenceKind } from "../../compose/fence.ts";
import { isBroken, tryFence, type Held, type Tried } from "../../compose/fence-trial.ts";
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
  const held = !tried.some(isBroken);
  if (json) printJson({ v: 1, fence: kind, level, held, probes: tried });
  else print(table(tried, { kind, level }));
  return held ? EXIT.ok : EXIT.failed;
}

function kindOf(asked: string): FenceKind | "auto" {
  const found = KINDS.find((kind) => kind === asked);
  if (found !== undefined) return found;
  throw new UsageError(`--fence ${asked} cannot be tried`, { hint: `one of: ${KINDS.join(", ")}` });
}

const WORDS: Record<Held, string> = { held: "held", broken: "BROKEN", untried: "-" };
const WIDTH = 8;
const UNTESTED: readonly FenceKind[] = ["docker", "seatbelt"];

function table(tried: readonly Tried[], { kind, level }: { kind: FenceKind; level: string }): string {
  const row = (agent: string, check: string, what: string): string =>
    `${agent.padEnd(WIDTH)}${check.padEnd(WIDTH)}${what}`;
  const isUntried = ({ agent, check }: Tried): boolean => agent === "untried" && check === "untried";
  const lines = tried.map((one) => {
    const why = isUntried(one) ? " (not tried: there is nothing here to try it with)" : "";
    return row(WORDS[one.agent], WORDS[one.check], `${one.name}${why}`);
  });
  const broken = tried.filter(isBroken).length;
  const untried = tried.filter(isUntried).length;
  const last =
    broken === 0
      ? `held: ${tried.length - untried} of ${counted(tried.length, "way")} out, ${untried} not tried`
      : `BROKEN: ${counted(broken, "way")} out; do not run what you do not trust here`;
  const note = UNTESTED.includes(kind) ? [`${kind} is written but was never tested by its authors`] : [];
  return [level, "", row("agent", "check", "tried from inside"), ...lines, "", last, ...note].join("\n");
}
