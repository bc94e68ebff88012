/**
 * How a conversation starts, decided from what is really on disk: a crash may have happened before the session that a
 * fact names was made, or after.
 */
import { basename } from "node:path";
import type { OpenRequest } from "../../ports.ts";
import type { Start } from "./command-line.ts";
import type { Totals } from "./reader.ts";
import { NO_TOTALS } from "./settle.ts";
import { entriesOf, transcriptOf, transcripts } from "./transcript.ts";

export async function findStart(
  config: string,
  { ref, mode, at }: OpenRequest["session"],
): Promise<{ start: Start; notice: string | undefined }> {
  const exists = transcriptOf(config, ref) !== undefined;
  if (mode !== "rewind") {
    const lost =
      mode === "continue" && !exists ? "there is no conversation to go on with; a new one is started" : undefined;
    return { start: { is: exists ? "resume" : "new", ref }, notice: lost };
  }
  const point = at === undefined ? undefined : await find(config, { ...parsePoint(at), ref });
  if (point?.session === ref) return { start: { is: "truncate", ref, at: point.message }, notice: undefined };
  if (exists) return { start: { is: "resume", ref }, notice: undefined };
  if (point === undefined) {
    return { start: { is: "new", ref }, notice: "the conversation cannot be rewound; a new one is started" };
  }
  return { start: { is: "fork", ref, from: point.session, at: point.message }, notice: undefined };
}

interface Point {
  session: string;
  message: string;
}

/** `session:message`, or a message alone that is looked for everywhere. */
function parsePoint(at: string): { session: string | undefined; message: string } {
  const colon = at.lastIndexOf(":");
  return { session: colon < 0 ? undefined : at.slice(0, colon), message: at.slice(colon + 1) };
}

/** Looks first where the conversation goes on: a fork that a crash interrupted holds the message too. */
async function find(
  config: string,
  { session, message, ref }: { session: string | undefined; message: string; ref: string },
): Promise<Point | undefined> {
  const named = [ref, session].flatMap((name) => transcriptOf(config, name ?? "") ?? []);
  for (const path of new Set([...named, ...transcripts(config)])) {
    for await (const entry of entriesOf(path, { mark: message })) {
      if (entry.uuid === message) return { session: basename(path, ".jsonl"), message };
    }
  }
  return undefined;
}

/** The totals that an earlier process saved at its orderly end; a resumed one goes on from them. */
export async function savedTotals(config: string, start: Exclude<Start, { is: "new" }>): Promise<Totals | undefined> {
  const path = transcriptOf(config, start.is === "fork" ? start.from : start.ref);
  if (path === undefined) return undefined;
  let saved: Totals | undefined;
  for await (const entry of entriesOf(path, { mark: '"cost-state"' })) {
    if (entry.type !== "cost-state") continue;
    const usages = Object.values(entry.modelUsage ?? {});
    const sum = (name: string): number => usages.reduce((total, usage) => total + (usage[name] ?? 0), 0);
    saved = {
      usd: entry.totalCostUSD ?? 0,
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      cacheReadTokens: sum("cacheReadInputTokens"),
      cacheWriteTokens: sum("cacheCreationInputTokens"),
    };
  }
  return saved ?? NO_TOTALS;
}
