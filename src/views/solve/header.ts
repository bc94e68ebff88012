/** The first lines of a run that solves. */
import type { RunSpec } from "../../spec.ts";
import { entryName } from "../../agent-entry.ts";
import { sayLimits } from "../cli/header.ts";
import { fenceWords } from "../fence-words.ts";
import { oneLine } from "../plain.ts";

const MAX_CHARS = 200;

export function solveHeader(spec: RunSpec): string {
  const { checks, agent, solve } = spec;
  const names = checks.map(({ name }) => oneLine(name, { max: MAX_CHARS }));
  const judged = names.length === 0 ? "no check: the best outcome is claimed" : `checks: ${names.join(", ")}`;
  const files = (solve?.files ?? []).map(({ path }) => oneLine(path, { max: MAX_CHARS }));
  const who = entryName({ agent: agent.name, ...(agent.model === undefined ? {} : { model: agent.model }) });
  const where =
    solve?.executor === "claude" ? "code runs in the provider's container" : fenceWords(spec.fence, { tense: "now" });
  return [
    `${spec.run} ${oneLine(spec.goal, { max: MAX_CHARS })}`,
    `  ${who} · ${judged} · ${sayLimits(spec.limits)}`,
    ...(files.length === 0 ? [] : [`  files: ${files.join(", ")}`]),
    `  ${where}`,
  ].join("\n");
}
