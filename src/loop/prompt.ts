/**
 * What goes into a prompt: parts under a cap each and one for the whole, with a list of what was included and what was
 * left out.
 */
import type { PromptPart, TurnAction } from "./actions.ts";
import type { Judgement, LaneState } from "./state.ts";

/** Enough for the words of people at their longest and every other part at its cap. */
export const MAX_PROMPT_BYTES = 640 * 1024;

interface Listed {
  name: string;
  bytes: number;
  /** Bytes left out because of a cap; 0 means whole. */
  cut: number;
  included: boolean;
  /** Why it was left out. */
  why?: string;
}
export type Manifest = Listed[];

export interface ComposedPrompt {
  text: string;
  parts: Manifest;
  /** Offsets into the text, in characters, up to which it is the same in later prompts. */
  breaks: number[];
}

const BLOB_VERSION = 1;

/**
 * As it is kept: a line of JSON with the parts, then the text as it was sent. Not one JSON text: the masking of secrets
 * sees the prompt's own characters then.
 */
export const promptBlob = ({ text, parts }: Omit<ComposedPrompt, "breaks">): string =>
  `${JSON.stringify({ v: BLOB_VERSION, parts })}\n${text}`;

export function readPromptBlob(kept: string): Omit<ComposedPrompt, "breaks"> {
  const end = kept.indexOf("\n");
  const { parts } = JSON.parse(kept.slice(0, end)) as { parts: Manifest };
  return { text: kept.slice(end + 1), parts };
}

export const notWhole = (parts: Manifest): string[] => parts.filter(({ cut }) => cut > 0).map(({ name }) => name);

/** Cuts at a character border and says so in the text; never longer than `capBytes`. */
export function capText(text: string, capBytes: number): { text: string; cut: number } {
  const bytes = Buffer.from(text);
  if (bytes.length <= capBytes) return { text, cut: 0 };
  const mark = "\n[… cut]";
  let end = Math.max(0, capBytes - Buffer.byteLength(mark));
  while (end > 0 && (bytes[end] ?? 0) >= 0x80 && (bytes[end] ?? 0) < 0xc0) end -= 1;
  const kept = bytes.subarray(0, end).toString() + (capBytes >= Buffer.byteLength(mark) ? mark : "");
  return { text: kept, cut: bytes.length - end };
}

/** Parts come most important first: when the whole is too long, the last ones are left out first. */
export function joinParts(parts: readonly PromptPart[], maxBytes = MAX_PROMPT_BYTES): ComposedPrompt {
  const manifest: Manifest = [];
  const texts: string[] = [];
  const breaks: number[] = [];
  let length = 0;
  let left = maxBytes;
  for (const part of parts) {
    const whole = part.text.trim();
    const { text, cut } = capText(whole, part.capBytes);
    const bytes = Buffer.byteLength(text);
    const included = whole !== "" && bytes + 2 <= left;
    manifest.push({
      name: part.name,
      bytes: included ? bytes : 0,
      cut: included ? cut : Buffer.byteLength(whole),
      included,
      ...whyNot(included ? undefined : whole === "" ? part.silent : "no room"),
    });
    if (!included) continue;
    length += text.length + (texts.length === 0 ? 0 : 2);
    texts.push(text);
    left -= bytes + 2;
    if (part.stable === true) breaks.push(length);
  }
  return { text: texts.join("\n\n"), parts: manifest, breaks };
}

/** For the manifest; a part that had nothing to say needs no reason. */
export const whyNot = (why: string | undefined): { why?: string } => (why === undefined ? {} : { why });

/** The iteration before: in the first prompt of the next, and again where that may not have reached this session. */
export function lastJudgement(lane: LaneState, { attempt, session, returning }: TurnAction): Judgement | undefined {
  const { iteration, change, decision, ended, last } = lane;
  if (attempt === 1) return { iteration, change, decision };
  const isSame = session.mode === "continue" && returning === undefined;
  const isKnown = isSame && ended !== undefined && ended.usage.requests > 0;
  return isKnown ? undefined : last;
}
