/**
 * A model that judges by a rubric, in a session of its own that knows nothing of the work but what it is shown. It can
 * only add a no: whatever it says, a check that pawl computed keeps its verdict. Whatever keeps it from answering in
 * the form that is asked for is `unverifiable`.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Verdict } from "../events.ts";
import { makePrivateDir } from "../platform/files.ts";
import { globMatcher, spelledOut } from "../platform/glob.ts";
import type { Agent, Blobs, Check, JudgeAbout, OpenRequest, TurnEnd, VerifyTree } from "../ports.ts";
import type { AgentSpec, CheckSpecOf } from "../spec.ts";
import { evidenceOf, unverifiable, verdictOf, within } from "./in-process.ts";
import { ANSWER_SCHEMA, answerOf, failuresOf } from "./judge/answer.ts";
import { JUDGE_INSTRUCTIONS, judgePrompt } from "./judge/prompt.ts";
import { readTreeFile, treeFiles } from "./tree-file.ts";

type Spec = CheckSpecOf<"judge">;

/** Shown to the model; with more, part of the work would pass unseen. */
const MAX_SHOWN_BYTES = 256 * 1024;
const MAX_FILES_SHOWN = 200;
const MARK_CHARS = 12;
/** For the end of its session when the time is over; nothing of it may be left. */
const CLOSE_GRACE_MS = 15_000;

interface Options {
  run: string;
  agent: Agent;
  /** As the run's own agent is set; a judge asks nobody. */
  settings: AgentSpec;
  /** Where its sessions live, out of the working agent's reach, and what they are started with. */
  place: Pick<OpenRequest, "home" | "environment" | "confine" | "sockets">;
  blobs: Blobs;
}

export function judgeCheck(spec: Spec, options: Options): Check {
  return {
    name: spec.name,
    required: spec.required,
    cost: "remote",
    judge: (tree, signal, about) =>
      within({ timeoutMs: spec.timeoutMs, graceMs: CLOSE_GRACE_MS, signal }, (both) =>
        judged(spec, { ...options, tree, about, signal: both }),
      ),
  };
}

interface Judging extends Options {
  tree: VerifyTree;
  about: JudgeAbout;
  signal: AbortSignal;
}

async function judged(spec: Spec, judging: Judging): Promise<Verdict> {
  const { tree, about, blobs } = judging;
  const started = performance.now();
  const prompt = judgePrompt({
    goal: about.goal,
    rubric: spec.rubric,
    passScore: spec.passScore,
    changed: await about.change.files(),
    shown: await material(spec, judging),
    verdicts: about.verdicts,
    mark: randomUUID().replaceAll("-", "").slice(0, MARK_CHARS),
  });
  const end = await asked(spec, { ...judging, prompt });
  if (end === undefined) return unverifiable("the judge gave no answer");
  const { usage } = end;
  const answer = end.outcome.is === "done" ? answerOf(end.answer) : undefined;
  if (answer === undefined) return noAnswer(end);
  const log = await blobs.put(`${prompt}\n\n## The judge's answer\n\n${JSON.stringify(answer, null, 2)}\n`);
  const evidence = {
    ...evidenceOf({ spec, tree, durationMs: performance.now() - started }),
    log: log.hash,
    logBytes: log.bytes,
    usage,
  };
  return verdictOf(failuresOf(answer, spec), evidence, answer.score);
}

/** What it is shown: the files that are named, else all that changed. Too much is told before anything is spent. */
async function material(spec: Spec, { tree, about }: Judging): Promise<{ what: string; text: string }[]> {
  if (spec.files === undefined) {
    const diff = await about.change.diff(MAX_SHOWN_BYTES);
    if (Buffer.byteLength(diff) >= MAX_SHOWN_BYTES)
      throw new Error(`the diff has more than the ${MAX_SHOWN_BYTES} bytes a judge is shown; name \`files\``);
    return [{ what: "diff since the base", text: diff === "" ? "nothing was changed" : diff }];
  }
  const paths = await treeFiles(tree.path, globMatcher(spec.files.map(spelledOut)), MAX_FILES_SHOWN);
  const shown: { what: string; text: string }[] = [];
  let left = MAX_SHOWN_BYTES;
  for (const path of paths) {
    const found = await readTreeFile(tree.path, path, left);
    if (found.is === "too-large")
      throw new Error(`the files have more than the ${MAX_SHOWN_BYTES} bytes a judge is shown; name fewer`);
    if (found.is !== "text") continue;
    left -= Buffer.byteLength(found.text);
    shown.push({ what: path, text: found.text });
  }
  return shown.length > 0 ? shown : [{ what: "files", text: `there is no file ${spec.files.join(", ")}` }];
}

/** One turn in a new session, of which nothing is left. undefined: it ended without an end. */
async function asked(
  spec: Spec,
  { run, agent, settings, place, prompt, signal }: Judging & { prompt: string },
): Promise<TurnEnd | undefined> {
  const ref = randomUUID();
  const home = join(place.home, ref);
  const workspace = join(home, "empty");
  makePrivateDir(home);
  mkdirSync(workspace, { recursive: true });
  const { model = settings.model } = spec;
  // A judge runs no code, wherever the work does.
  const { executor: _executor, files: _files, ...options } = settings.options;
  const session = await agent.open({
    ...place,
    run,
    // A name of its own: its socket is called after it.
    lane: `judge-${ref.slice(0, MARK_CHARS)}`,
    workspace,
    home,
    session: { ref, mode: "new" },
    agent: { ...settings, options, ask: { ...settings.ask, permissions: "allow", questions: "deny" } },
    model,
    instructions: JUDGE_INSTRUCTIONS,
    answer: ANSWER_SCHEMA,
  });
  const limits = {
    idleTimeoutMs: spec.timeoutMs,
    turnTimeoutMs: spec.timeoutMs,
    completionGraceMs: settings.completionGraceMs,
  };
  let end: TurnEnd | undefined;
  try {
    for await (const event of session.turn({ uuid: randomUUID(), prompt }, limits, signal))
      if (event.type === "turn-end") end = event;
    return end;
  } finally {
    await session.close();
    await rm(home, { recursive: true, force: true });
  }
}

function noAnswer({ outcome, usage }: TurnEnd): Verdict {
  const resetAt = outcome.is === "limited" ? outcome.resetAt : undefined;
  return {
    is: "unverifiable",
    reason: whyNot(outcome),
    ...(resetAt === undefined ? {} : { retryAfterMs: Math.max(0, resetAt - Date.now()) }),
    ...(usage.requests > 0 ? { usage } : {}),
  };
}

function whyNot(outcome: TurnEnd["outcome"]): string {
  switch (outcome.is) {
    case "done":
      return "the judge did not answer in the form that was asked for";
    case "limited":
      return `the judge's provider said no for now: ${outcome.message}`;
    case "timeout":
      return `the judge did not answer within ${outcome.afterMs} ms`;
    case "interrupted":
      return "aborted";
    case "cut":
      return `the judge was cut off: ${outcome.reason}`;
    case "failed":
      return `the judge failed (${outcome.kind}): ${outcome.message}`;
  }
}
