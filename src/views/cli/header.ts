/** The first lines of a run: what it is called, where it works, what judges it and what it may spend. */
import { entryName } from "../../agent-entry.ts";
import type { AgentEntry, Limits, RunSpec } from "../../spec.ts";
import { fenceWords, HOW_TO_FENCE } from "../fence-words.ts";
import { oneLine } from "../plain.ts";
import { runsWords } from "../proof-words.ts";
import { counted, dollars, duration } from "./format.ts";

const MAX_GOAL_CHARS = 200;

interface About {
  goalFile?: string;
  /** From stdin, behind the goal. */
  context?: string;
  /** Where commands of the command line run. */
  folderNote?: string;
  /** What `auto` found nothing for. */
  wantedFence?: boolean;
}

export function header(spec: RunSpec, { goalFile, context, folderNote, wantedFence = false }: About = {}): string {
  const { workspace, checks } = spec;
  const commits = { branch: `branch ${workspace.branch}`, current: "the current branch", none: "no commits" };
  const names = checks.map(({ name }) => oneLine(name, { max: MAX_GOAL_CHARS }));
  return [
    `${spec.run} ${oneLine(spec.goal, { max: MAX_GOAL_CHARS })}`,
    ...(goalFile === undefined ? [] : [`  the goal is the text of ${oneLine(goalFile, { max: MAX_GOAL_CHARS })}`]),
    ...(context === undefined ? [] : [`  with ${counted(Buffer.byteLength(context), "byte")} from stdin as context`]),
    `  ${commits[workspace.commit]} · ${names.length === 0 ? "no check: nothing can be proved, the best outcome is claimed" : `checks: ${names.join(", ")}`} · ${sayLimits(spec.limits)}`,
    ...(folderNote === undefined ? [] : [`  ${folderNote}`]),
    ...[runsWords(spec)].flatMap((words) => (words === "" ? [] : [`  ${words}`])),
    ...agentLines(spec),
    `  ${fenceWords(spec.fence, { tense: "now" })}${wantedFence && spec.fence.kind === "none" ? ` (to get a fence: ${HOW_TO_FENCE})` : ""}`,
    '  from another terminal: pawl watch, pawl steer "…", pawl stop; Ctrl-C stops after this iteration',
  ].join("\n");
}

/** Where there is more than one: who works, who stands in, who looks at it. */
function agentLines({ agent: { name, model }, mix, review }: RunSpec): string[] {
  const say = (entries: readonly AgentEntry[]): string =>
    entries.map((entry) => oneLine(entryName(entry), { max: MAX_GOAL_CHARS })).join(", ");
  const own = say([{ agent: name, ...(model === undefined ? {} : { model }) }]);
  const rows = [
    mix === undefined || mix.rotate.length === 0 ? own : `in turn ${say(mix.rotate)}`,
    mix === undefined || mix.fallback.length === 0 ? "" : `in its place ${say(mix.fallback)}`,
    mix === undefined || mix.escalate.length === 0 ? "" : `when stuck ${say(mix.escalate)}`,
    review === undefined ? "" : `reviewed by ${say([review.agent])}`,
  ].filter((row) => row !== "");
  return mix === undefined && review === undefined ? [] : [`  ${rows.join(" · ")}`];
}

export function sayLimits(limits: Limits): string {
  const words = [
    limits.iterations === undefined ? "" : counted(limits.iterations, "iteration"),
    limits.turns === undefined ? "" : counted(limits.turns, "turn"),
    limits.toolCalls === undefined ? "" : counted(limits.toolCalls, "tool call"),
    limits.tokens === undefined ? "" : counted(limits.tokens, "token"),
    limits.usd === undefined ? "" : dollars(limits.usd),
    limits.turnUsd === undefined ? "" : `${dollars(limits.turnUsd)} a turn`,
    limits.drivenMs === undefined ? "" : duration(limits.drivenMs),
    limits.callsPerHour === undefined ? "" : `${counted(limits.callsPerHour, "turn")} an hour`,
  ].filter((word) => word !== "");
  return words.length === 0 ? "no limits" : `at most ${words.join(", ")}`;
}
