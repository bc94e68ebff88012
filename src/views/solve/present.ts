/** The end of a run that solves: the answer on stdout, everything else on stderr. */
import { EXIT, exitCodeOf } from "../../errors.ts";
import { PLAN_ONLY } from "../../loop/solve-decide.ts";
import { solveOf } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import type { Blobs } from "../../ports.ts";
import { plain } from "../plain.ts";
import { answerOf, answerValue, exactJson } from "./answer.ts";
import { writeArtifacts } from "./artifacts.ts";
import { refusePlaces, type Wanted } from "./places.ts";
import { solveSummary } from "./summary.ts";
import { planYaml } from "./transcript.ts";

interface Presenting {
  blobs: Blobs;
  json: boolean;
  trustPromise: boolean;
}

/** Returns the exit code. */
export async function presentAnswer(ended: RunState, { blobs, json, trustPromise }: Presenting): Promise<number> {
  const answer = await answerOf(ended, blobs);
  const { out, save } = ended.spec.solve ?? {};
  const places = ended.outcome === undefined ? { out: undefined, save: undefined } : { out, save };
  const written = await writeArtifacts(ended, { ...places, blobs, answer });
  process.stderr.write(`${solveSummary(ended, written)}\n`);
  const { outcome } = ended;
  const { plan } = solveOf(ended);
  const isPlan = outcome?.rule === PLAN_ONLY && plan !== undefined;
  if (json) process.stdout.write(`${JSON.stringify(asJson(ended, answer))}\n`);
  else if (isPlan) process.stdout.write(planYaml(plan));
  else if (answer.settled && answer.text !== null) process.stdout.write(`${plain(answer.text)}\n`);
  if (outcome === undefined) return EXIT.failed;
  const code = isPlan ? EXIT.ok : exitCodeOf(outcome, { trustPromise });
  return code === EXIT.ok && written.missing.length > 0 ? EXIT.failed : code;
}

/** Of a run that ended before: what it made, once more. Returns the exit code. */
export async function handOut(state: RunState, { blobs, ...places }: Wanted & { blobs: Blobs }): Promise<number> {
  refusePlaces(places);
  const { written, missing } = await writeArtifacts(state, { ...places, blobs, answer: await answerOf(state, blobs) });
  process.stderr.write([...written, ...missing].map((line) => `${plain(line)}\n`).join(""));
  return missing.length === 0 ? EXIT.ok : EXIT.failed;
}

function asJson(ended: RunState, { outcome, text, settled, code }: Awaited<ReturnType<typeof answerOf>>): object {
  const { plan } = solveOf(ended);
  return {
    v: 1,
    run: ended.run,
    outcome: outcome?.is ?? null,
    rule: outcome?.rule ?? null,
    reason: outcome?.reason ?? null,
    answer: settled ? answerValue(ended, text, exactJson) : null,
    /** What was there last, where there is no answer. */
    last: settled ? null : answerValue(ended, text, exactJson),
    code,
    plan:
      plan === undefined
        ? null
        : plan.steps.map(({ id, title, needs, expect, is }) => ({ id, title, needs, expect, is })),
    usd: ended.spent.unknownTurns > 0 ? null : ended.spent.usd,
  };
}
