/**
 * What the agent claims of its work: a promise, which counts only as the whole last line of its final text and never
 * from tools, code blocks, quotes or the echo of a prompt; or a structured call. Where it stands is strict, how it is
 * written is not: letter case, blanks and colours make no difference.
 */
import { stripVTControlCharacters } from "node:util";
import type { Claim, FactOf, Misplaced } from "../events.ts";
import type { TurnEnd } from "../ports.ts";
import type { RunSpec } from "../spec.ts";

const MAX_CLAIM_CHARS = 1_000;
/** A reviewer's word for "this must not stay as it is, and I could not mend it". */
export const REJECTED = "REJECTED";
/** The rule of a decision that has nothing else to say than that a promise is no claim where it stands. */
export const PROMISE_MISPLACED = "promise-misplaced";
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
function rejectionOf({ finalText, call }: Pick<TurnEnd, "finalText" | "call">): Claim | null {
  const text = finalText.slice(-MAX_CLAIM_CHARS);
  if (hasClaim(finalText, REJECTED)) return { is: "abort", how: "promise", text };
  return call?.is === "abort" ? { is: "abort", how: "call", text: call.text.slice(0, MAX_CLAIM_CHARS) } : null;
}

/** What a turn that came to its end says of the work, and a promise in it that says nothing where it stands. */
export function saidAt(
  end: Pick<TurnEnd, "finalText" | "call">,
  { spec, isReview }: { spec: RunSpec; isReview: boolean },
): Pick<FactOf<"turn-end">, "claim" | "misplaced"> {
  const claim = isReview ? rejectionOf(end) : claimOf(end, spec);
  if (claim !== null || spec.recipe !== "run") return { claim };
  const own = [spec.claim.promise, spec.claim.abort, spec.tasks?.promise].filter((promise) => promise !== undefined);
  const misplaced = misplacedPromise(end.finalText, isReview ? [REJECTED] : own);
  return misplaced === undefined ? { claim } : { claim, misplaced };
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

const A_PROMISE = /<promise>([^<>\n]*)<\/promise>/gi;
const MAX_LINE_CHARS = 200;

/** A promise in a final text that is no claim: said to agent and person, and nothing is done on the strength of it. */
export function misplacedPromise(finalText: string, promises: readonly string[]): Misplaced | undefined {
  const lines = stripVTControlCharacters(finalText).trimEnd().split("\n");
  const isMeant = (said: string): boolean => promises.some((promise) => plainWord(promise) === plainWord(said));
  const tags = lines.flatMap((line, at) =>
    [...line.matchAll(A_PROMISE)].map(([tag, said = ""]) => ({ line, at, tag, said })),
  );
  const seen = tags.findLast(({ said }) => isMeant(said)) ?? tags.at(-1);
  if (seen === undefined) return undefined;
  return {
    how: howMisplaced(lines, { ...seen, isMeant: isMeant(seen.said) }),
    line: seen.line.trim().slice(0, MAX_LINE_CHARS),
  };
}

function howMisplaced(
  lines: readonly string[],
  { line, at, tag, isMeant }: { line: string; at: number; tag: string; isMeant: boolean },
): Misplaced["how"] {
  if (!isMeant) return "other-word";
  if (insideFence(lines.slice(0, at + 1))) return "in-code";
  return line.trim() === tag ? "not-last" : "with-text";
}

const WHERE: Readonly<Record<Misplaced["how"], string>> = {
  "with-text": "the promise tag is in a line with other text",
  "not-last": "the final message goes on after the promise tag",
  "in-code": "the promise tag is in a block of code",
  "other-word": "the promise tag has another word than the one that was agreed",
};

/** What was seen and what is wanted. */
export const misplacedWords = ({ how, line }: Misplaced): string =>
  `${WHERE[how]} (${JSON.stringify(line)}) and was not taken for a claim: it must stand alone on the last line, as it was given`;

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
