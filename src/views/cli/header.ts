/** The first lines of a run: what it is called, where it works, what judges it and what it may spend. */
import type { Limits, RunSpec } from "../../spec.ts";
import { fenceWords, HOW_TO_FENCE } from "../fence-words.ts";
import { oneLine } from "../plain.ts";
import { counted, dollars, duration } from "./format.ts";

const MAX_GOAL_CHARS = 200;

interface About {
  goalFile?: string;
  /** What `auto` found nothing for. */
  wantedFence?: boolean;
}

export function header(spec: RunSpec, { goalFile, wantedFence = false }: About = {}): string {
  const { workspace, checks } = spec;
  const commits = { branch: `branch ${workspace.branch}`, current: "the current branch", none: "no commits" };
  const names = checks.map(({ name }) => oneLine(name, { max: MAX_GOAL_CHARS }));
  return [
    `${spec.run} ${oneLine(spec.goal, { max: MAX_GOAL_CHARS })}`,
    ...(goalFile === undefined ? [] : [`  the goal is the text of ${oneLine(goalFile, { max: MAX_GOAL_CHARS })}`]),
    `  ${commits[workspace.commit]} · ${names.length === 0 ? "no check: nothing can be proved, the best outcome is claimed" : `checks: ${names.join(", ")}`} · ${sayLimits(spec.limits)}`,
    `  ${fenceWords(spec.fence, { tense: "now" })}${wantedFence && spec.fence.kind === "none" ? ` (to get a fence: ${HOW_TO_FENCE})` : ""}`,
    '  from another terminal: pawl watch, pawl steer "…", pawl stop; Ctrl-C stops after this iteration',
  ].join("\n");
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
