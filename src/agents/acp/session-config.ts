/** What an agent lets its client choose for a session: model, mode, level of thinking; in the new way and in the old. */
import { UsageError } from "../../errors.ts";
import type { TurnOutcome } from "../../events.ts";
import { brief } from "../outcome.ts";
import { AgentError, type Connection } from "./connection.ts";
import { listAt, objectAt, textAt, type Json } from "./json.ts";

/** An agent could not be made ready, for a reason that decides how the turn ends. */
export class NotReady extends Error {
  readonly outcome: TurnOutcome;
  constructor(outcome: TurnOutcome, message: string) {
    super(message);
    this.name = "NotReady";
    this.outcome = outcome;
  }
}

type Choice = "model" | "mode" | "thought_level";

/** The model that the session has now, where the agent tells. */
export function currentModel({ opened }: OpenedSession): string | undefined {
  const option = listAt(opened, "configOptions").find((one) => one["category"] === "model");
  const told =
    option === undefined ? textAt(objectAt(opened, "models"), "currentModelId") : textAt(option, "currentValue");
  return told === "" ? undefined : told;
}

interface Selectable {
  id: string;
  values: string[];
  /** The value for a name as a person may write it. */
  valueOf(wanted: string): string | undefined;
}

/** `opened`: the answer to the request that opened the session. */
function selectable(opened: Json, category: Choice): Selectable | undefined {
  const option = listAt(opened, "configOptions").find((one) => one["category"] === category);
  if (option === undefined) return undefined;
  const offered = listAt(option, "options").flatMap((one) =>
    Array.isArray(one["options"]) ? listAt(one, "options") : [one],
  );
  return {
    id: textAt(option, "id"),
    values: offered.map((one) => textAt(one, "value")),
    valueOf(wanted) {
      const found = offered.find((one) => one["value"] === wanted) ?? offered.find((one) => one["name"] === wanted);
      return found === undefined ? undefined : textAt(found, "value");
    },
  };
}

export interface OpenedSession {
  readonly id: string;
  readonly connection: Connection;
  /** The answer to the request that opened it, with what was chosen since. */
  opened: Json;
}

async function choose(session: OpenedSession, configId: string, value: string): Promise<void> {
  const { id: sessionId, connection } = session;
  const result = await connection.request("session/set_config_option", { sessionId, configId, value });
  // One choice may change what else there is to choose.
  if (Array.isArray(result["configOptions"])) session.opened = { ...session.opened, ...result };
}

/** Resolves to words for people when the agent offers no choice of models. Throws NotReady when it refuses this one. */
export async function setModel(session: OpenedSession, model: string): Promise<string | undefined> {
  const { id, opened, connection } = session;
  const option = selectable(opened, "model");
  const legacy = listAt(objectAt(opened, "models"), "availableModels").map((one) => textAt(one, "modelId"));
  if (option === undefined && legacy.length === 0)
    return `this agent offers no choice of models: ${model} is not set, it uses its own`;
  try {
    if (option === undefined) {
      await connection.request("session/set_model", { sessionId: id, modelId: model });
      return undefined;
    }
    // Some take more names than they list.
    await choose(session, option.id, option.valueOf(model) ?? model);
    return undefined;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const known = (option?.values ?? legacy).join(", ");
    const message = brief(`the agent does not take the model ${model} (${error.message}); it offers: ${known}`);
    throw new NotReady({ is: "failed", kind: "model", message }, message);
  }
}

/** Throws UsageError when the agent has no such mode. */
export async function setMode(session: OpenedSession, mode: string): Promise<void> {
  const { id, opened, connection } = session;
  const option = selectable(opened, "mode");
  const modes = listAt(objectAt(opened, "modes"), "availableModes").map((one) => textAt(one, "id"));
  const known = option?.values ?? modes;
  const value = option?.valueOf(mode) ?? modes.find((one) => one === mode);
  if (value === undefined) throw unknown("--permissions", { given: mode, known });
  if (option === undefined) await connection.request("session/set_mode", { sessionId: id, modeId: value });
  else await choose(session, option.id, value);
}

/** Throws UsageError when the agent has no such level. */
export async function setEffort(session: OpenedSession, effort: string): Promise<void> {
  const option = selectable(session.opened, "thought_level");
  const value = option?.valueOf(effort);
  if (option === undefined || value === undefined)
    throw unknown("--effort", { given: effort, known: option?.values ?? [] });
  await choose(session, option.id, value);
}

function unknown(flag: string, { given, known }: { given: string; known: readonly string[] }): UsageError {
  const offer = known.length === 0 ? "it offers no choice" : `it offers: ${known.join(", ")}`;
  return new UsageError(`${flag} is ${JSON.stringify(given)}, which this agent does not know; ${offer}`);
}
