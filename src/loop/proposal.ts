/**
 * What a model may propose in a run that solves: the schema it answers by, and how its answer is read. What does not fit
 * becomes a proposal of nothing with the reason, which goes back to the model. Pure.
 */
import { LANGUAGES, type Language } from "../ports/executor.ts";
import type { PlanStep, SolveSpec } from "../spec/solve.ts";
import { planProblem, readSteps } from "./solve-plan.ts";
import { endsWithPlan } from "./solve-state.ts";
import { MAIN_LANE, type RunState } from "./state.ts";

const MAX_NOTE_CHARS = 2_000;

export interface Proposal {
  does: "plan" | "run" | "answer" | "nothing";
  note: string;
  language?: Language;
  code?: string;
  /** Of a step: what the code prints is its result, and need not be looked at first. */
  final?: true;
  answer?: string;
  steps?: PlanStep[];
  problem?: string;
}

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

const STEPS = {
  type: "array",
  items: {
    type: "object",
    properties: { id: text, title: text, needs: { type: "array", items: text }, expect: text },
    required: ["id", "title", "needs", "expect"],
    additionalProperties: false,
  },
} as const;

type Doing = Exclude<Proposal["does"], "nothing">;
const ALL: readonly Doing[] = ["plan", "run", "answer"];

/** What can be proposed. `inStep`: a step of a plan makes no plan of its own. */
export function possible(
  { executor, planOnly }: Pick<SolveSpec, "executor" | "planOnly">,
  { inStep }: { inStep: boolean },
): Doing[] {
  return ALL.filter((one) => {
    switch (one) {
      case "plan":
        return !inStep;
      case "run":
        return executor === "local" && !planOnly;
      case "answer":
        return !planOnly;
    }
  });
}

/** At this moment of the run. */
export function possibleIn(state: RunState, lane: string): Doing[] {
  const executor = state.spec.solve?.executor ?? "local";
  return possible({ executor, planOnly: endsWithPlan(state) }, { inStep: lane !== MAIN_LANE });
}

export function proposalSchema(
  { language }: Pick<SolveSpec, "language">,
  does: readonly Doing[],
): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    properties: {
      do: { type: "string", enum: does },
      note: text,
      ...(does.includes("run")
        ? { language: { type: "string", enum: language === undefined ? LANGUAGES : [language] }, code: text }
        : {}),
      // A step makes no plan.
      ...(does.includes("run") && !does.includes("plan") ? { final: flag } : {}),
      ...(does.includes("answer") ? { answer: text } : {}),
      ...(does.includes("plan") ? { steps: STEPS } : {}),
    },
    required: ["do", "note"],
    additionalProperties: false,
  };
}

export const nothing = (problem: string, note = ""): Proposal => ({ does: "nothing", note, problem });

/** `answer`: as the agent gave it; undefined: it gave none. Not every agent keeps to the schema it was given. */
export function readProposal(
  answer: unknown,
  { language }: Pick<SolveSpec, "language">,
  does: readonly Doing[] = ALL,
): Proposal {
  if (answer === undefined) return nothing("it did not answer in the form that was asked for");
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return nothing("its answer is no object");
  const given = answer as Record<string, unknown>;
  const note = wordsOf(given["note"]).slice(0, MAX_NOTE_CHARS);
  const wanted = ALL.find((one) => one === given["do"]);
  if (wanted !== undefined && !does.includes(wanted))
    return nothing(`\`do\` is ${wanted}, and here it can only be ${does.join(" or ")}`, note);
  switch (wanted) {
    case "run": {
      const code = given["code"];
      if (typeof code !== "string" || code.trim() === "") return nothing("`do` is run, and there is no `code`", note);
      const spoken = given["language"] ?? language ?? "python";
      const known = LANGUAGES.find((one) => one === spoken);
      if (known === undefined)
        return nothing(`there is no language ${JSON.stringify(spoken)}; one of ${LANGUAGES.join(", ")}`, note);
      if (language !== undefined && known !== language)
        return nothing(`the code has to be ${language}, and it is ${known}`, note);
      return { does: "run", note, language: known, code, ...(given["final"] === true ? { final: true } : {}) };
    }
    case "answer": {
      const said = given["answer"];
      const words = typeof said === "string" ? said : said === undefined ? "" : JSON.stringify(said);
      if (words.trim() === "") return nothing("`do` is answer, and `answer` is empty", note);
      return { does: "answer", note, answer: words.trim() };
    }
    case "plan": {
      const steps = readSteps(given["steps"]);
      if (typeof steps === "string") return nothing(steps, note);
      const problem = planProblem(steps);
      return problem === undefined ? { does: "plan", note, steps } : nothing(problem, note);
    }
    case undefined:
      return nothing(`\`do\` is ${JSON.stringify(given["do"])}: plan, run or answer`, note);
  }
}

const wordsOf = (value: unknown): string => (typeof value === "string" ? value : "");
