/** From settings to the agents of a run: who works, who stands in, who reviews. */
import { AGENT_NAMES, entryName, isKnown, readEntry, readModelOrEntry } from "../agent-entry.ts";
import type { Resolved } from "../config.ts";
import { UsageError } from "../errors.ts";
import type { AgentEntry, RunSpec } from "../spec.ts";
import { nearest } from "./nearest.ts";
import { SETTINGS, type SettingName } from "./settings.ts";

export interface KnownNames {
  /** Names of the agents that a program brings itself, and of commands. */
  agents: readonly string[];
  /** Which of them works. */
  agent?: string | undefined;
}

type Mix = Pick<RunSpec, "mix" | "review" | "prices"> & { own: AgentEntry };

export function toMix(
  { settings: s, origins }: Pick<Resolved, "settings"> & Partial<Resolved>,
  known: KnownNames,
): Mix {
  const entry = (name: SettingName, text: string): AgentEntry => {
    const read = readEntry(text);
    if (read !== undefined && isKnown(read.agent, known.agents)) return read;
    throw new UsageError(`--${name} names an agent that there is not: ${JSON.stringify(text)}`, {
      hint: `AGENT or AGENT:MODEL, with one of: ${[...AGENT_NAMES, ...known.agents, "acp:COMMAND"].join(", ")}`,
    });
  };
  const rotate = (s.rotate ?? []).map((text) => entry("rotate", text));
  if (rotate.length > 0) refuseOther(origins);
  const own =
    rotate[0] ??
    (known.agent === undefined
      ? ownEntry(s, { where: origins?.agent?.where, known })
      : { agent: known.agent, ...modelIn(s) });
  const fallback = (s.fallback ?? []).map((text) => entry("fallback", text));
  const escalate = (s.escalate ?? []).map((text) => readModelOrEntry(text, { agent: own.agent, own: known.agents }));
  if (escalate.length > 0 && s["fallback-model"] !== undefined)
    throw new UsageError("--escalate contradicts --fallback-model: both say who goes on when the work is stuck", {
      hint: `--escalate ${s["fallback-model"]},${escalate.map(entryName).join(",")}`,
    });
  const isMixed = rotate.length + fallback.length + escalate.length > 0;
  const reviewer = s["review-agent"];
  const prompt = s.review ?? (reviewer === undefined ? undefined : SETTINGS.review.bare);
  return {
    own,
    ...(isMixed ? { mix: { fallback, rotate, escalate, benchMs: s.bench, benchMaxMs: s["max-bench"] } } : {}),
    ...(prompt === undefined
      ? {}
      : { review: { prompt, agent: reviewer === undefined ? own : entry("review-agent", reviewer) } }),
    ...(s.prices === undefined ? {} : { prices: s.prices }),
  };
}

const modelIn = ({ model }: Resolved["settings"]): Pick<AgentEntry, "model"> => (model === undefined ? {} : { model });

/** `--agent claude:opus` and `--model opus` say the same. */
function ownEntry(
  s: Resolved["settings"],
  { where, known }: { where: string | undefined; known: KnownNames },
): AgentEntry {
  const { agent, model } = readEntry(s.agent) ?? { agent: s.agent };
  if (!isKnown(agent, known.agents)) refuseUnknown(agent, { where, known });
  if (model !== undefined && s.model !== undefined && model !== s.model)
    throw new UsageError(`--agent ${s.agent} contradicts --model ${s.model}`, { hint: "say the model once" });
  return model === undefined ? { agent, ...modelIn(s) } : { agent, model };
}

function refuseUnknown(
  agent: string,
  { where = "agent", known }: { where: string | undefined; known: KnownNames },
): never {
  const label = /^(--|PAWL_)/.test(where) ? where : `agent in ${where}`;
  const names = [...AGENT_NAMES, ...known.agents];
  const meant = nearest(agent, names);
  throw new UsageError(
    `${label} must be one of: ${[...names, "acp:COMMAND"].join(", ")}, not ${JSON.stringify(agent)}`,
    {
      hint:
        meant === undefined
          ? "any other program: under `agents` in pawl.yaml (docs/agents.md)"
          : `did you mean ${meant}?`,
    },
  );
}

function refuseOther(origins: Resolved["origins"] = {}): void {
  const given = (["agent", "model"] as const).find((name) => origins[name]?.from === "flag");
  if (given === undefined) return;
  throw new UsageError(`--rotate contradicts --${given}: it names all that take turns`, {
    hint: "put the agent and its model into --rotate, or leave --rotate out",
  });
}
