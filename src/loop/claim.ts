/**
 * What the agent claims of its work: a promise, which counts only as the whole last line of its final text and never
 * from tools, code blocks, quotes or the echo of a prompt; or a structured call. Where it stands is strict, how it is
 * written is not: letter case, blanks and colours make no difference.
 */
import { stripVTControlCharacters } from "node:util";
import type { Claim } from "../events.ts";
import type { TurnEnd } from "../ports.ts";
import type { RunSpec } from "../spec.ts";

const MAX_CLAIM_CHARS = 1_000;
/** A reviewer's word for "this must not stay as it is, and I could not mend it". */
export const REJECTED = "REJECTED";
/** The rule of a decision that asks for one more claim. */
export const CLAIM_UNCONFIRMED = "claim-unconfirmed";

/** The promise is the last word: it stands over a call made earlier in the turn. */
export function claimOf(
  { finalText, call }: Pick<TurnEnd, "finalText" | "call">,
  { claim, tasks }: Pick<RunSpec, "claim" | "tasks">,
): Claim | null {
  const text = finalText.slice(-MAX_CLAIM_CHARS);
  if (hasClaim(finalText, claim.promise)) return { is: "done", how: "promise", text };
  if (claim.abort !== undefined && hasClaim(finalText, claim.abort)) return { is: "abort", how: "promise", text };
  if (tasks !== undefined && hasClaim(finalText, tasks.promise)) return { is: "task", how: "promise", text };
  return call === null ? null : { is: call.is, how: "call", text: call.text.slice(0, MAX_CLAIM_CHARS) };
}

/** A reviewer's word that the change must not stay as it is. */
export function rejectionOf({ finalText, call }: Pick<TurnEnd, "finalText" | "call">): Claim | null {
  const text = finalText.slice(-MAX_CLAIM_CHARS);
  if (hasClaim(finalText, REJECTED)) return { is: "abort", how: "promise", text };
  return call?.is === "abort" ? { is: "abort", how: "call", text: call.text.slice(0, MAX_CLAIM_CHARS) } : null;
}

/** Its words without the promise, in one line. */
export function claimWords({ text }: Claim): string {
  return text
    .replace(/<promise>[^<>\n]*<\/promise>\s*$/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

export const promiseTag = (promise: string): string => `<promise>${promise}</promise>`;

export function hasClaim(finalText: string, promise: string): boolean {
  const lines = finalText.trimEnd().split("\n");
  // What is longer than any promise is none; colours take some room.
  const last = stripVTControlCharacters((lines.at(-1) ?? "").slice(0, MAX_CLAIM_CHARS)).trim();
  const said = /^<promise>([^<>]*)<\/promise>$/i.exec(last)?.[1];
  return said !== undefined && plainWord(said) === plainWord(promise) && !insideFence(lines);
}

const plainWord = (word: string): string => word.trim().replaceAll(/\s+/g, " ").toLowerCase();

/** Whether the last line stands inside an unclosed code fence. */
function insideFence(lines: readonly string[]): boolean {
  let fence: string | undefined;
  for (const line of lines) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark === undefined) continue;
    if (fence === undefined) fence = mark;
    else if (mark.startsWith(fence)) fence = undefined;
  }
  return fence !== undefined;
}
