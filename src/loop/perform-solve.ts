/** The effects of a run that solves: proposals become facts, code is run, answers are laid out for the checks. */
import type { Kept, NewFact, TurnOutcome } from "../events.ts";
import type { Blobs, Ports, TurnEnd } from "../ports.ts";
import type { Execution, OwnExecution, Printed } from "../ports/executor.ts";
import type { Action } from "./actions.ts";
import { explainExecution, failureMessage } from "./explain-execution.ts";
import type { Hands } from "./hands.ts";
import { diffShape } from "./memory.ts";
import { dropSession } from "./perform-session.ts";
import { nothing, possibleIn, readProposal } from "./proposal.ts";
import {
  ANSWER_FILE,
  ANSWER_JSON,
  candidateOf,
  codeBehind,
  isJson,
  SOLUTION_FILES,
  solutionFile,
} from "./solve-answer.ts";
import { attemptsIn, solveOf, type Attempt } from "./solve-state.ts";
import { stepOf } from "./solve-steps.ts";
import { laneOf, MAIN_LANE } from "./state.ts";
import { sayOutcome } from "./turn-outcome.ts";

const KIB = 1024;
/** Of what facts hold of a text; the whole is a blob. */
const MAX_CODE_BYTES = 16 * KIB;
const MAX_OUTPUT_BYTES = 6 * KIB;
const MAX_ANSWER_BYTES = 6 * KIB;
const MAX_MESSAGE_BYTES = 8 * KIB;
const MAX_SUMMARY_CHARS = 200;

interface Place {
  lane: string;
  turn: number;
}

/** What a turn proposed; goes with its end. */
export async function proposed(hands: Hands, { lane, turn, end }: Place & { end: TurnEnd }): Promise<NewFact[]> {
  const { run, ports } = hands;
  const { solve } = run.state.spec;
  const cut = endedBefore(end.outcome);
  if (solve === undefined || (end.outcome.is !== "done" && cut === undefined)) return [];
  const { does, note, language, code, final, answer, steps, problem } =
    cut === undefined
      ? readProposal(end.answer, solve, possibleIn(run.state, lane))
      : nothing(`the turn was ended before it proposed anything: ${cut}`);
  const { iteration } = laneOf(run.state, lane);
  const keep = (text: string, max: number): Promise<Kept> => kept(ports.blobs, text, max);
  const made: NewFact = {
    type: "proposal-made",
    lane,
    turn,
    iteration,
    do: does,
    note,
    ...(language === undefined ? {} : { language }),
    ...(code === undefined ? {} : { code: await keep(code, MAX_CODE_BYTES) }),
    ...(final === undefined ? {} : { final }),
    ...(answer === undefined ? {} : { answer: await keep(answer, MAX_ANSWER_BYTES) }),
    ...(problem === undefined ? {} : { problem }),
  };
  if (steps === undefined) return [made];
  const revision = (solveOf(run.state).plan?.revision ?? 0) + 1;
  return [made, { type: "plan-made", lane, revision, by: "agent", steps, turn }];
}

/** By a limit of its own or by a person: that counts as a try, else a step would be tried without end. */
function endedBefore(outcome: TurnOutcome): string | undefined {
  const isOwn = outcome.is === "failed" && outcome.kind === "max-turns";
  const isStopped = outcome.is === "interrupted" && !/^(driver:|directive:stop)/.test(outcome.by);
  return isOwn || isStopped ? sayOutcome(outcome) : undefined;
}

/** What a person planned, before the first turn. */
export function givenPlan({ run }: Hands, lane: string): NewFact[] {
  const steps = run.state.spec.solve?.plan;
  return steps === undefined ? [] : [{ type: "plan-made", lane, revision: 1, by: "person", steps, turn: null }];
}

export async function execute(
  { lane, turn }: Extract<Action, { do: "execute" }>,
  hands: Hands,
  signal: AbortSignal,
): Promise<void> {
  const { run, ports } = hands;
  const { code: room } = ports;
  const attempt = solveOf(run.state).attempts.findLast((one) => one.turn === turn);
  const { solve } = run.state.spec;
  if (room === undefined || solve === undefined) throw new Error("this run has nothing that runs code");
  if (attempt?.code === undefined) return;
  const { language, kept: recorded } = attempt.code;
  // As it is recorded, and so as everybody can run it again.
  const code = { language, text: await wholeText(ports.blobs, recorded) };
  await undoHalf(hands, attempt);
  const step = stepOf(lane);
  const { plan } = solveOf(run.state);
  const needs = plan?.steps.find(({ id }) => id === step)?.needs ?? [];
  const ran = attemptsIn(run.state, lane).filter(({ executed: result }) => result !== undefined);
  const isFirst = ran.every((one) => one.turn <= (plan?.turn ?? 0));
  const folder = await room.folder({ step, needs, turn, isFirst });
  const execution = await room.executor.run(code, { folder, limits: solve.limits }, signal);
  if (signal.aborted) return;
  const own = { language, code: code.text, execution, container: undefined, files: execution.files };
  await run.append(await executed(hands, { lane, turn, by: room.executor.name, own }));
}

/** What code of the main line left that a driver began and nobody saw the end of. */
async function undoHalf(hands: Hands, { epoch, lane, turn }: Attempt): Promise<void> {
  const { run, ports } = hands;
  const { head } = laneOf(run.state, lane);
  if (lane !== MAIN_LANE || epoch >= run.state.epoch || head === undefined) return;
  const at = run.now().wall;
  await hands.exclusively(() => ports.workspace.restore(head.snapshot, { salvage: `salvage/half-${turn}`, at }));
}

type Recorded = Place & {
  by: string;
  own: Omit<OwnExecution, "files"> & { files: readonly { path: string; bytes: number; fileId?: string }[] };
};

/** An execution as facts: what it came to, and where it failed what is to be remembered. */
export async function executed(hands: Hands, { lane, turn, by, own }: Recorded): Promise<NewFact[]> {
  const { run, ports } = hands;
  const { language, code, execution, container, files } = own;
  const { iteration } = laneOf(run.state, lane);
  const explained = explainExecution(execution, { language, text: code });
  const told = explained.kind !== "ok" || explained.exception !== null;
  const message = told ? cut(failureMessage(execution, { language, text: code }), MAX_MESSAGE_BYTES) : "";
  const recorded: NewFact = {
    type: "execution-recorded",
    lane,
    turn,
    iteration,
    by,
    language,
    code: await kept(ports.blobs, code, MAX_CODE_BYTES),
    end: execution.end,
    ...(await printed(ports, execution)),
    files: files.map((file) => ({ ...file })),
    durationMs: execution.durationMs,
    kind: explained.kind,
    exception: explained.exception,
    fingerprint: explained.kind === "ok" ? null : explained.fingerprint,
    message,
    ...(container === undefined ? {} : { container }),
  };
  if (explained.kind === "ok" || explained.kind === "unavailable") return [recorded];
  const { approach } = diffShape(`diff --git a/code b/code\n${code.replaceAll(/^/gm, "+")}`);
  return [
    recorded,
    {
      type: "failure-recorded",
      lane,
      iteration,
      approach,
      summary: `${language} code`,
      fingerprints: [explained.fingerprint],
      messages: [explained.message.slice(0, MAX_SUMMARY_CHARS)],
    },
  ];
}

async function printed({ blobs }: Ports, { stdout, stderr }: Execution): Promise<{ stdout: Kept; stderr: Kept }> {
  const keep = async ({ text, ...about }: Printed): Promise<Kept> => ({
    ...(await kept(blobs, text, MAX_OUTPUT_BYTES)),
    ...about,
  });
  return { stdout: await keep(stdout), stderr: await keep(stderr) };
}

export async function endStep(
  { lane, step, is, kept: result, why }: Extract<Action, { do: "end-step" }>,
  hands: Hands,
): Promise<void> {
  const { run, ports } = hands;
  await dropSession(hands, { lane });
  await run.append([
    { type: "step-end", lane, step, is, result: result ?? (await kept(ports.blobs, why, MAX_OUTPUT_BYTES)) },
  ]);
}

/** Before a snapshot: the answer and the code behind it, where checks and people find them. */
export async function layOutAnswer({ run, ports }: Hands, lane: string): Promise<void> {
  const { ended } = laneOf(run.state, lane);
  const attempt = solveOf(run.state).attempts.findLast(({ turn }) => turn === ended?.turn);
  const candidate = candidateOf(attempt);
  if (attempt === undefined || candidate === undefined) return;
  const answer = (await wholeText(ports.blobs, candidate.kept)).trim();
  const code = codeBehind(run.state, attempt);
  const solution = code === undefined ? [] : [solutionFile(code.language)];
  ports.code?.makeWay([ANSWER_FILE, ANSWER_JSON, ...solution]);
  // Nor a program of another language.
  ports.code?.remove(SOLUTION_FILES.filter((name) => !solution.includes(name)));
  await ports.workspace.write(ANSWER_FILE, `${answer}\n`);
  // One that an earlier answer left must not stand for this one.
  await ports.workspace.write(ANSWER_JSON, isJson(answer) ? `${answer}\n` : "");
  if (code !== undefined)
    await ports.workspace.write(solutionFile(code.language), await wholeText(ports.blobs, code.kept));
}

async function wholeText(blobs: Blobs, { blob, text }: Kept): Promise<string> {
  const bytes = await blobs.get(blob);
  return bytes === undefined ? text : Buffer.from(bytes).toString();
}

async function kept(blobs: Blobs, text: string, maxBytes: number): Promise<Kept> {
  const { hash, bytes } = await blobs.put(text);
  return { blob: hash, bytes, text: cut(text, maxBytes) };
}

/** Its beginning and its end, with a mark between. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const half = Math.floor(maxBytes / 2);
  const whole = (part: Uint8Array): string => Buffer.from(part).toString().replaceAll("\uFFFD", "");
  const left = bytes.length - 2 * half;
  return `${whole(bytes.subarray(0, half))}\n[… ${left} bytes left out]\n${whole(bytes.subarray(-half))}`;
}
