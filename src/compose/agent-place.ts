/** Where the agents of a run live, and what they get: those who work, and apart from them the one who reviews. */
import { join } from "node:path";
import type { Begun } from "../compose.ts";
import { agentHome, reviewHome, runDir } from "../platform/paths.ts";
import type { Ports } from "../ports.ts";
import { thawEnvironment } from "./environment.ts";
import type { RunFence } from "./fence.ts";
import { frozenInstructions } from "./instructions.ts";

type AgentPlace = Ports["agentHome"];

const LANE = "main";

interface Wanted {
  fence: Pick<RunFence, "agent" | "environment" | "sockets">;
  /** Also for whoever drives the run again. */
  keep: boolean;
  home?: string;
}

/** Everything of an OpenRequest that is known before the first turn. */
export async function agentPlace(
  { run, env, state, start }: Begun,
  { fence, keep, home = agentHome(state.dir, { run, lane: LANE }) }: Wanted,
): Promise<AgentPlace> {
  const instructions = await frozenInstructions({
    file: join(runDir(state.dir, run), "instructions.md"),
    keep,
    repository: start.spec.workspace.repository,
    commit: start.base.commit,
    env,
  });
  const environment = thawEnvironment(start.spec.environment, { env, run, home: join(home, "home") });
  return {
    home,
    instructions,
    environment: { ...environment, ...fence.environment },
    confine: fence.agent,
    sockets: fence.sockets,
  };
}

/** For all drivers of a run. */
export async function runPlaces(
  begun: Begun,
  { fence }: { fence: RunFence },
): Promise<Pick<Ports, "agentHome" | "reviewHome">> {
  const own = await agentPlace(begun, { keep: true, fence });
  if (begun.start.spec.review === undefined) return { agentHome: own };
  const home = reviewHome(runDir(begun.state.dir, begun.run));
  const held = { ...fence, agent: fence.reviewer };
  return { agentHome: own, reviewHome: await agentPlace(begun, { keep: true, fence: held, home }) };
}
