/** Drives a run of the simulated world to its end, however often its drivers die. */
import { drive, type DriveOptions } from "../../src/loop/drive.ts";
import type { Recipe } from "../../src/loop/actions.ts";
import type { RunState } from "../../src/loop/state.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import type { RunSpec } from "../../src/spec.ts";
import type { Behaviour } from "./sim-agent.ts";
import { portsOf, startFact, type Death, type Passes, type World } from "./world.ts";

const MAX_DRIVES = 50;
/** How often a driver may ask what it should do: at every fact, effect and directive, and a little more. */
const MAX_LOOKS_PER_TOUCH = 40;
const FREE_LOOKS = 1_000;

export interface LiveOptions {
  passes?: Passes;
  /** How the first drivers die. */
  deaths?: readonly Death[];
  reopen?: DriveOptions["reopen"];
  between?: DriveOptions["between"];
  recipe?: Recipe;
  adjust?: (ports: ReturnType<typeof portsOf>) => void;
}

const isGood: Passes = (lines) => lines.includes("good");

export async function live(
  world: World,
  spec: RunSpec,
  acts: readonly Behaviour[],
  { passes = isGood, deaths = [], reopen, between, adjust, recipe = runRecipe }: LiveOptions = {},
): Promise<RunState> {
  const at = { v: 1 as const, run: spec.run, lane: "main", seq: 0, at: world.wall, elapsed: 0, epoch: 0 };
  if (world.facts.length === 0) world.facts.push({ ...at, ...startFact(spec) });
  for (let i = 0; i < MAX_DRIVES; i += 1) {
    const ports = portsOf(world, spec, acts, passes, deaths[i]);
    adjust?.(ports);
    const ended = await Promise.race([
      drive({
        run: spec.run,
        recipe: patient(world, recipe),
        ports,
        signal: new AbortController().signal,
        ...(reopen === undefined ? {} : { reopen }),
        ...(between === undefined ? {} : { between }),
      }),
      ports.dead.then(() => undefined),
    ]);
    if (world.hung) throw new Error("a driver waits for nothing");
    if (ended !== undefined) return ended;
  }
  throw new Error("never ended");
}

/** The recipe, until it is asked without end. */
function patient(world: World, recipe: Recipe): Recipe {
  let looks = 0;
  return {
    ...recipe,
    wanted(state, now) {
      looks += 1;
      if (looks > FREE_LOOKS + MAX_LOOKS_PER_TOUCH * world.touches) throw new Error("a busy loop");
      return recipe.wanted(state, now);
    },
  };
}
