/** What can be in flight. Every action has a stable key, so that the same wish twice is one effect. */
import type { FactOf, Kept, NewFact, Outcome, ProofPart, TaskEdit, Verdict } from "../events.ts";
import type { HookEvent, HookSpec } from "../spec.ts";
import type { Answer } from "./questions.ts";
import type { Seat } from "./seats.ts";
import type { RunState } from "./state.ts";

export interface Now {
  wall: number;
  /** Driven time of the run, ms. */
  elapsed: number;
}

export type SessionPlan =
  | { mode: "new" }
  | { mode: "continue"; ref: string }
  /** Falls back to "new" where the agent cannot. */
  | { mode: "rewind"; ref: string; at: string };

export type DecisionBody = Extract<NewFact, { type: "decision-made" }>;

export type Action = { key: string; lane: string; why: string } & (
  | { do: "prepare" }
  | {
      do: "turn";
      iteration: number;
      attempt: number;
      session: SessionPlan;
      /** Who takes it; undefined: the run's own agent. */
      seat?: Seat;
      /** It looks at the change of another; without, it works. */
      role?: "review";
      /** Its session goes on after others have worked: the iteration in which it last did. */
      returning?: number;
    }
  | ({ do: "bench" } & Pick<FactOf<"agent-benched">, "seat" | "turn" | "reason" | "until" | "untilElapsed">)
  | { do: "find-out"; turn: FactOf<"turn-start"> }
  | { do: "snapshot"; by: "agent" | "user"; iteration: number; n: number; parent: number }
  | { do: "baseline"; check: string; tree: string }
  /** `baseTests`: judged first, with the base's own tests alone. */
  | { do: "check"; check: string; tree: string; baseTests: string | undefined; iteration: number }
  | { do: "skip"; check: string; tree: string; iteration: number }
  | { do: "prove"; check: string; tree: string; iteration: number; part: ProofPart }
  /** All parts of the proof are known. */
  | { do: "conclude"; check: string; tree: string; iteration: number; verdict: Verdict }
  | { do: "remember"; iteration: number; from: string; to: string; verdicts: Verdict[] }
  | { do: "decide"; decision: DecisionBody }
  | { do: "accept"; tree: string; iteration: number; snapshot: number; message: string }
  | { do: "restore"; to: number; iteration: number; reason: string; salvage: string; atEnd?: true }
  | { do: "wait"; reason: string; until: number | null; untilElapsed: number | null }
  | { do: "end-wait"; wait: string }
  | { do: "tell"; directive: string; text: string }
  | { do: "switch-model"; directive: string; model: string }
  /** `refused`: nothing was done about it. */
  | { do: "deliver"; directive: string; how: string; refused?: true }
  | ({ do: "ask"; about: string } & Pick<FactOf<"human-requested">, "kind" | "text" | "options" | "untilElapsed">)
  | { do: "answer"; question: string; answer: Answer }
  | { do: "hook"; hook: HookSpec; on: HookEvent; occasion: string; fact: object | undefined; outcome?: Outcome }
  | { do: "edit-tasks"; directive: string; edit: TaskEdit }
  /** Runs the code that this turn proposed. */
  | { do: "execute"; turn: number }
  /** Without `kept` its result is `why`. */
  | { do: "end-step"; step: string; is: FactOf<"step-end">["is"]; kept: Kept | undefined }
  | { do: "end"; outcome: Outcome }
);

/** What is wanted of a lane, before it is said of which. */
export type Body<T = Action> = T extends unknown ? Omit<T, "lane"> : never;

export type TurnAction = Extract<Action, { do: "turn" }>;

export interface PromptPart {
  name: string;
  text: string;
  capBytes: number;
  /** Why there is nothing to say, where that is worth telling a person. */
  silent?: string;
  /** What stands up to its end is the same in later prompts, for the cache of the provider. */
  stable?: true;
  /** Stands above a template that has no place for it: words of people, and what was done to the files. */
  always?: true;
}

/** What was read from the workspace just before a turn; only files that the spec names. */
export interface PromptContext {
  notes?: Memo;
  knowledge?: Memo;
  /** For a review: the change it looks at, bounded. */
  diff?: string;
}
export interface Memo {
  /** Bounded. */
  text: string;
  /** Of the whole file; 0 when there is none. */
  bytes: number;
  /** Of `text`. */
  hash: string;
}

/** One topic of a prompt; empty text where there is nothing to say. */
export type MakePart = (state: RunState, turn: TurnAction, context: PromptContext) => PromptPart;

/** A loop with a purpose: pure functions of the state. */
export interface Recipe {
  readonly name: RunState["spec"]["recipe"];
  /** What should be in flight when no directive, limit or wait says otherwise. Total: every state has an answer. */
  wanted(state: RunState, now: Now): Action[];
  /** The parts of a turn's prompt, most important first; the kernel caps and joins them and records the manifest. */
  prompt(state: RunState, turn: TurnAction, context: PromptContext): PromptPart[];
  /** Of a whole prompt, in bytes; without it the kernel's own. */
  maxPromptBytes?(state: RunState): number;
  /** What a person's template can say beside the parts; one with the name of a part stands for it. */
  variables(state: RunState, turn: TurnAction): Record<string, string>;
}
