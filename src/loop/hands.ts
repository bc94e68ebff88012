/** What the effects of one driver share: the run, the ports, the agent's live sessions. */
import type { NewFact, Usage } from "../events.ts";
import type { AgentSession, OpenRequest, Ports, VerifyTree } from "../ports.ts";
import type { Now, Recipe, TurnAction } from "./actions.ts";
import { makeVerifyRoom, type Company } from "./perform-verify.ts";
import { possibleIn, proposalSchema } from "./proposal.ts";
import { agentSpecOf, modelOf, type Seat } from "./seats.ts";
import type { RunState } from "./state.ts";

/** The run in this driver's hands: its state, and the only way to append to it. */
export interface Run {
  readonly state: RunState;
  now(): Now;
  append(facts: readonly NewFact[]): Promise<void>;
  /** Only if it still holds when everything before it has been written; false when it did not. */
  appendIf(holds: () => boolean, facts: readonly NewFact[]): Promise<boolean>;
}

export interface LiveSession {
  agent: string;
  ref: string;
  model: string | undefined;
  /** The model it opened with, as the agent says. */
  said?: string | undefined;
  session: AgentSession;
  /** Its opening is a fact already. */
  announced: boolean;
  /** Opened ahead; no turn was taken in it. */
  unused: boolean;
}

export interface RunningTurn {
  session: AgentSession;
  turn: number;
  /** So far. */
  usage: Usage;
  /** Called with the id of a directive whose text has reached the model. */
  delivered: Map<string, () => void>;
  /** What the agent waits for, by pawl's own name of the question: its name of it, and its options in full. */
  asked: Map<string, { question: string; options: string[] }>;
  /** The agent has shown a sign of life: it can be told something. */
  begun: Promise<void>;
  ended: Promise<void>;
}

export interface Hands {
  run: Run;
  recipe: Recipe;
  ports: Ports;
  sessions: Map<string, LiveSession>;
  running: Map<string, RunningTurn>;
  /** Of each lane whose agent is getting ready for its turn: resolves at its first sign of life, or when there is none. */
  starting: Map<string, PromiseWithResolvers<void>>;
  /** Workspace effects happen one after the other. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** What uses a verify tree. */
  verifying<T>(tree: string, work: (verify: VerifyTree) => Promise<T>, how: Company): Promise<T>;
  /** The number of a turn that is about to begin, in whatever lane. */
  nextTurn(): number;
  /** The next free name of a question: q1, q2, … */
  questionId(): string;
}

export function makeHands(run: Run, recipe: Recipe, ports: Ports): Hands {
  let last: Promise<unknown> = Promise.resolve();
  let asked = 0;
  const running: Hands["running"] = new Map();
  return {
    run,
    recipe,
    ports,
    sessions: new Map(),
    running,
    starting: new Map(),
    exclusively(work) {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    },
    verifying: makeVerifyRoom((tree) => ports.workspace.verifyTree(tree), { atOnce: ports.checksAtOnce ?? 1 }),
    nextTurn() {
      // One whose start nobody wrote is given again.
      const starting = [...running.values()].map(({ turn }) => turn);
      return Math.max(run.state.turns, ...starting) + 1;
    },
    questionId() {
      asked = Math.max(asked, run.state.asked) + 1;
      return `q${asked}`;
    },
  };
}

interface OpenPlace {
  lane: string;
  role?: TurnAction["role"] | undefined;
  session: OpenRequest["session"];
  seat: Seat;
}

export function openRequest(hands: Hands, { lane, role, session, seat }: OpenPlace): OpenRequest {
  const { state } = hands.run;
  const { workspace, agentHome, reviewHome = agentHome } = hands.ports;
  const own = agentSpecOf(state.spec, seat);
  // The goal is of those who work.
  const { nativeGoal, ...others } = own.options;
  const agent = role === "review" && nativeGoal !== undefined ? { ...own, options: others } : own;
  // Who reviews has nothing of those whose work it is, not even by their own program's files.
  const place = role === "review" ? reviewHome : agentHome;
  const { solve } = state.spec;
  const answer = solve === undefined || role === "review" ? undefined : proposalSchema(solve, possibleIn(state, lane));
  const model = modelOf(state, seat);
  const about = { run: state.run, lane, workspace: workspace.path, session, agent, model, ...place };
  return answer === undefined ? about : { ...about, answer };
}
