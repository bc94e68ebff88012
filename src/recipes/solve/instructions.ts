/** What the model is told once and for all: how it works here, what code can do, how to answer. */
import type { PromptPart } from "../../loop/actions.ts";
import { endsWithPlan } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import type { SolveSpec } from "../../spec/solve.ts";
import { KIB } from "../parts/text.ts";

const MS_PER_SECOND = 1_000;
const MIB = 1024 * 1024;

export function instructions(state: RunState, { inStep }: { inStep: boolean }): PromptPart {
  const { solve } = state.spec;
  return {
    name: "instructions",
    text:
      solve === undefined
        ? ""
        : words({ ...solve, planOnly: endsWithPlan(state) }, { inStep, checked: state.spec.checks.length > 0 }),
    capBytes: 6 * KIB,
    stable: true,
  };
}

function words(solve: SolveSpec, { inStep, checked }: { inStep: boolean; checked: boolean }): string {
  const what = inStep ? "one step of a plan" : "a question";
  return [
    `You solve ${what} in a loop without a person watching: you propose, it is run, you see what came of it.`,
    solve.planOnly
      ? planOnly
      : [running(solve), inStep ? stepEnd(solve) : answering(solve, checked), inStep ? "" : planning(solve)]
          .filter(Boolean)
          .join("\n\n"),
  ].join("\n\n");
}

const planOnly =
  "Propose a plan and nothing else: `do` is `plan`, with `steps`, each with a short `id`, a `title` that says all of what is to be done, the ids it `needs`, and what result you `expect`.";

function running({ executor, language, limits, files }: SolveSpec): string {
  const { timeoutMs, memoryBytes, outputBytes } = limits;
  const bounds = `at most ${timeoutMs / MS_PER_SECOND} s, ${Math.round(memoryBytes / MIB)} MB of memory and ${Math.round(outputBytes / MIB)} MB of output`;
  if (executor !== "local")
    return "Run code with the code execution tool as often as you need. Files that were given are in its container; files it writes are kept.";
  const spoken =
    language === undefined ? "`language` one of python, javascript, typescript, shell" : `\`language\` ${language}`;
  return `To run code, let \`do\` be \`run\`, with ${spoken} and the whole program as \`code\`. Its working directory is a folder with the given files; files it writes stay there for the next program${files.length === 0 ? "" : "; the given ones are put back as they were, so write what you change of them under another name"}. There is no network, and each program has ${bounds}. Print the result, and nothing after it. Computed is better than remembered: do not answer by heart what a program can find out.`;
}

function answering({ executor, repeats }: SolveSpec, checked: boolean): string {
  const explicit =
    "When you know the answer, let `do` be `answer`, with `answer` just as it was asked for and nothing around it.";
  if (checked) return `${explicit} It is checked. What a program prints is taken for an answer and checked, too.`;
  if (executor !== "local") return explicit;
  return `${explicit} ${repeats} programs in a row that print exactly the same also end the work, with that as the answer.`;
}

/** A container's code has run when the answer is given. */
const stepEnd = ({ executor, repeats }: SolveSpec): string => {
  const explicit = "When what is expected of the step is there, let `do` be `answer`, with the result as `answer`.";
  const sure = `Where you are sure that a program will print just that, let \`final\` be true with it: then what it prints is the result, if it ends well. Otherwise you see what it printed and go on; ${repeats} programs in a row that print the same also end the step.`;
  const others = "Others build on your result and on the files you write: name these in it.";
  return [explicit, ...(executor === "local" ? [sure] : []), others].join(" ");
};

const planning = ({ parallel }: SolveSpec): string =>
  `For work of several parts you may first let \`do\` be \`plan\`, with \`steps\`: each with a short \`id\`, a \`title\` that says all of what is to be done, the ids it \`needs\`, and what result you \`expect\`. Steps that do not need each other run at the same time, ${parallel} at once; then you are shown the results, and may answer, run code, or plan anew: a step that keeps its id and title keeps its result. \`note\` is one or two sentences on what you are doing and why; it is shown to you later.`;
