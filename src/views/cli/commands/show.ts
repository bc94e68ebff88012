/** `pawl show`: one iteration, whole or one section of it, with what lies in blobs. */
import type { Command } from "commander";
import { EXIT, TerminalError, UsageError } from "../../../errors.ts";
import type { Fact, FactOf } from "../../../events.ts";
import type { Blobs } from "../../../ports.ts";
import { readPromptBlob } from "../../../loop/prompt.ts";
import { solveOf } from "../../../loop/solve-state.ts";
import type { RunState } from "../../../loop/state.ts";
import { plain } from "../../plain.ts";
import { decisionText, manifestText, overviewText, verdictText } from "../iteration-text.ts";
import { iterationView, type IterationView } from "../iteration-view.ts";
import { attemptNumbered, isOfSolve, refuseOthers, showSolve, type ShownParts } from "../../solve/show.ts";
import { print, printJson } from "../output.ts";
import { readRun, wholeNumber, withRun } from "../reading.ts";

interface Options extends ShownParts {
  iteration?: number;
  prompt?: boolean;
  verdict?: boolean;
  decision?: boolean;
  log?: string;
  out?: string;
  save?: string;
  json?: boolean;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("-i, --iteration <n>", "which; without it the last", wholeNumber("--iteration"))
    .option("--prompt", "the text the agent was given, with what was included and what was left out")
    .option("--verdict", "each check's verdict with its evidence")
    .option("--decision", "what was decided, by which rule, on which numbers")
    .option("--log <check>", "the whole output of a check")
    .option("--plan", "of a run that solves: its plan, with the results of its steps")
    .option("--attempts", "of a run that solves: what was tried and what came of it, a line each")
    .option("--attempt <n>", "of a run that solves: one attempt whole, with code and output", wholeNumber("--attempt"))
    .option("--out <folder>", "of a run that solves: copy what its code made there, with the answer and a transcript")
    .option("--save <file>", "of a run that solves: write the final program there")
    .option("--json", "one object on stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      let code: number = EXIT.ok;
      await withRun(asked, async (opened) => {
        const { facts, folded } = await readRun(opened);
        if (options.out !== undefined || options.save !== undefined) {
          refuseOthers(folded);
          const { handOut } = await import("../../solve/present.ts");
          code = await handOut(folded, { out: options.out, save: options.save, blobs: opened.state.blobs });
          return;
        }
        if (isOfSolve(options)) return await showSolved(folded, { facts, blobs: opened.state.blobs, options });
        const view = iterationView(facts, { n: options.iteration });
        const { blobs } = opened.state;
        if (options.json === true) printJson(await asJson(view, { blobs, options }));
        else await showText(view, { blobs, options });
      });
      exit(code);
    });
}

async function showSolved(
  state: RunState,
  { facts, blobs, options }: About & { facts: readonly Fact[] },
): Promise<void> {
  refuseOthers(state);
  refuseIteration(options);
  const { attempts, plan } = solveOf(state);
  const { attempt } = options;
  const start = options.prompt === true ? turnNumbered(facts, attempt) : undefined;
  const prompt = start === undefined ? undefined : readPromptBlob(await textOf(blobs, start.prompt.blob));
  if (options.json !== true) {
    print(await showSolve(state, { blobs, shown: options }));
    if (start !== undefined && prompt !== undefined)
      print(`\n${manifestText(start, prompt.parts)}\n\n${plain(prompt.text)}`);
    return;
  }
  printJson({
    v: 1,
    run: state.run,
    ...(options.plan === true ? { plan: plan ?? null } : {}),
    ...(options.attempts === true ? { attempts } : {}),
    ...(attempt === undefined ? {} : { attempt: attemptNumbered(state, attempt) }),
    ...(prompt === undefined ? {} : { prompt }),
  });
}

/** What is said of an iteration says nothing of attempts. */
function refuseIteration({ attempt, iteration, prompt, verdict, decision, log }: Options): void {
  const said = [
    ...(prompt === true && attempt === undefined ? ["--prompt"] : []),
    ...(iteration === undefined ? [] : ["--iteration"]),
    ...(verdict === true ? ["--verdict"] : []),
    ...(decision === true ? ["--decision"] : []),
    ...(log === undefined ? [] : ["--log"]),
  ];
  if (said.length === 0) return;
  throw new UsageError(`${said.join(", ")} is about an iteration, and not about attempts or a plan`, {
    hint: "pawl show RUN -i N --prompt, or pawl show RUN --attempt N --prompt",
  });
}

/** In whatever lane it was. */
const turnNumbered = (facts: readonly Fact[], n: number | undefined): FactOf<"turn-start"> | undefined =>
  facts.find((fact): fact is FactOf<"turn-start"> => fact.type === "turn-start" && fact.turn === n);

interface About {
  blobs: Blobs;
  options: Options;
}

async function showText(view: IterationView, { blobs, options }: About): Promise<void> {
  const { prompt = false, verdict = false, decision = false, log } = options;
  if (!prompt && !verdict && !decision && log === undefined) return print(overviewText(view));
  if (prompt) {
    for (const { start } of view.turns) {
      const { text, parts } = readPromptBlob(await textOf(blobs, start.prompt.blob));
      print(`${manifestText(start, parts)}\n\n${plain(text)}\n`);
    }
  }
  if (verdict) {
    if (view.checks.length === 0) print(`iteration ${view.iteration} has no verdict`);
    for (const check of view.checks) print(`${verdictText(check)}\n`);
  }
  if (decision)
    print(view.decision === null ? `iteration ${view.iteration} is not decided yet` : decisionText(view.decision));
  if (log !== undefined) print(plain(await logOf(view, { blobs, check: log })));
}

/** The facts as they are; with `--prompt` and `--log` also what they name: texts, and the parts of a prompt. */
async function asJson(view: IterationView, { blobs, options }: About): Promise<unknown> {
  const prompts = view.turns.map(async ({ start }) => ({
    turn: start.turn,
    ...readPromptBlob(await textOf(blobs, start.prompt.blob)),
  }));
  return {
    ...view,
    ...(options.prompt === true ? { prompts: await Promise.all(prompts) } : {}),
    ...(options.log === undefined ? {} : { log: await logOf(view, { blobs, check: options.log }) }),
  };
}

async function logOf(view: IterationView, { blobs, check }: { blobs: Blobs; check: string }): Promise<string> {
  const names = [...new Set(view.checks.map((fact) => fact.check))];
  const verdict = view.checks.findLast((fact) => fact.check === check)?.verdict;
  if (verdict === undefined) {
    throw new UsageError(`iteration ${view.iteration} has no check ${JSON.stringify(check)}`, {
      hint: names.length === 0 ? "no check has run in it" : `one of: ${names.join(", ")}`,
    });
  }
  const hash = "evidence" in verdict ? verdict.evidence.log : null;
  if (hash === null) throw new UsageError(`check ${check} left no log: ${verdict.is}`);
  return textOf(blobs, hash);
}

async function textOf(blobs: Blobs, hash: string): Promise<string> {
  const bytes = await blobs.get(hash);
  if (bytes !== undefined) return Buffer.from(bytes).toString("utf8");
  throw new TerminalError(`the text ${hash} is missing from pawl's state`, {
    hint: "was part of the state directory removed?",
  });
}

const EXAMPLES = `
Examples:
  pawl show                         the last iteration in short
  pawl show -i 3 --prompt           what the agent was told in iteration 3
  pawl show --verdict --decision    why it went on, or ended
  pawl show --attempts              how a question was solved
  pawl show --attempt 4 --prompt    what the model was told, also in a step of a plan
  pawl show --out result            what its code made, once more
  pawl show r-20261115-k3f --log tests | less
`;
