/** Several agents in the simulated world, each with its own list of turns that fail before one runs through. */
import type { TurnOutcome } from "../../src/events.ts";
import { NO_USAGE } from "../../src/loop/budget.ts";
import type { Agent, Ports, TurnEnd } from "../../src/ports.ts";
import type { World } from "./world.ts";

export type Failure = "fine" | "overloaded" | "reset" | "crash" | "hang" | "login" | "context";
/** By seat, in order; afterwards all is well. Shared by all drivers of a world. */
export type Troubles = Map<string, Failure[]>;

export const RESET_MS = 3_600_000;

/** Puts agents called `names` beside the world's own, all with the same script of work. */
export function mixAgents(
  ports: Ports,
  { world, names, troubles }: { world: World; names: readonly string[]; troubles: Troubles },
): void {
  const sim = ports.agents["sim"];
  if (sim === undefined) throw new Error("the world has an agent");
  Object.assign(ports, {
    agents: Object.fromEntries(names.map((name) => [name, failing(sim, { name, world, troubles })])),
  });
}

function failing(sim: Agent, { name, world, troubles }: { name: string; world: World; troubles: Troubles }): Agent {
  return {
    name,
    gaps: [],
    inspect: (request, turn) => sim.inspect(request, turn),
    async open(request) {
      const session = await sim.open(request);
      const seat = request.model === undefined ? name : `${name}:${request.model}`;
      return {
        ...session,
        turn(...about) {
          const failure = troubles.get(seat)?.shift() ?? "fine";
          if (failure === "fine") return session.turn(...about);
          const { ref } = request.session;
          if (!world.sessions.has(ref)) world.sessions.set(ref, new Map());
          const end = endOf(outcomeOf(failure, world.wall));
          return (async function* () {
            yield end;
          })();
        },
      };
    },
  };
}

const endOf = (outcome: TurnOutcome): TurnEnd => ({
  type: "turn-end",
  outcome,
  // It asked the model, and was charged.
  usage: { ...NO_USAGE, requests: 1, inputTokens: 7, usd: outcome.is === "cut" ? null : 0.001 },
  finalText: "",
  call: null,
  messageId: null,
  contextTokens: 10,
});

function outcomeOf(failure: Exclude<Failure, "fine">, wall: number): TurnOutcome {
  switch (failure) {
    case "overloaded":
      return { is: "limited", kind: "overloaded", message: "529" };
    case "reset":
      return { is: "limited", kind: "usage", resetAt: wall + RESET_MS, message: "limit" };
    case "crash":
      return { is: "cut", reason: "crashed" };
    case "hang":
      return { is: "timeout", which: "idle", afterMs: 1_000 };
    case "login":
      return { is: "failed", kind: "login", message: "who are you" };
    case "context":
      return { is: "failed", kind: "context", message: "too long" };
  }
}
