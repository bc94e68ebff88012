/**
 * How a conversation starts, decided from what is really on disk: a crash may have happened before the session that a
 * fact names was made, or after.
 */
import { basename } from "node:path";
import type { OpenRequest } from "../../ports.ts";
import type { Start } from "./query.ts";
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
  const from = at === undefined ? undefined : await sessionWith(config, { uuid: at, preferred: ref });
  if (at !== undefined && from === ref) return { start: { is: "truncate", ref, at }, notice: undefined };
  if (exists) return { start: { is: "resume", ref }, notice: undefined };
  if (at !== undefined && from !== undefined) return { start: { is: "fork", ref, from, at }, notice: undefined };
  return { start: { is: "new", ref }, notice: "the conversation cannot be rewound; a new one is started" };
}

/** The session whose conversation holds this message. */
async function sessionWith(
  config: string,
  { uuid, preferred }: { uuid: string; preferred: string },
): Promise<string | undefined> {
  const paths = transcripts(config);
  const sessions = paths.toSorted((a, b) => Number(b.includes(preferred)) - Number(a.includes(preferred)));
  for (const path of sessions) {
    for await (const entry of entriesOf(path, { mark: uuid })) {
      if (entry.uuid === uuid) return basename(path, ".jsonl");
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
