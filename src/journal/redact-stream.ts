/**
 * Masking what comes in pieces, with bounded memory. The last stretch of what came is held back until it is certain
 * that no secret begins in it; a little of what was let go is kept as context for what follows.
 */
import { masked, settled, type Range } from "./mask.ts";

/** Searched at once: small pieces are collected first, or each would cost a search of what is held back. */
const BATCH_CHARS = 65_536;
/** More than any key, header or assignment needs before it is recognised. */
const MIN_HOLD_CHARS = 4_096;
/** Names and word boundaries before a value. */
const CONTEXT_CHARS = 256;
/** A match that long without end is masked, and the rest of its word swallowed. */
const MAX_OPEN_CHARS = 262_144;
const WORD_END = /[\s"'`]/;

export interface RedactStream {
  /** Returns what is certain by now, masked. */
  push: (text: string) => string;
  /** The rest. */
  end: () => string;
}

interface StreamParts {
  find: (text: string) => Range[];
  /** The longest fixed text that is looked for, in characters. */
  longest: number;
}

export function makeRedactStream({ find, longest }: StreamParts): RedactStream {
  const hold = Math.max(MIN_HOLD_CHARS, 2 * longest);
  let context = "";
  let pending = "";
  let isSwallowing = false;

  const letGo = (isLast: boolean): string => {
    const text = context + pending;
    const begin = context.length;
    const ranges = find(text)
      .filter(({ end }) => end > begin)
      .map(({ start, end }) => ({ start: Math.max(start, begin), end }));
    const cut = isLast ? text.length : cutOf({ ranges, begin, length: text.length, hold });
    isSwallowing = !isLast && cut === text.length;
    const certain = ranges
      .filter(({ end }) => end <= cut)
      .map(({ start, end }) => ({ start: start - begin, end: end - begin }));
    context = isSwallowing ? "" : text.slice(Math.max(0, cut - CONTEXT_CHARS), cut);
    pending = text.slice(cut);
    const sure = text.slice(begin, cut);
    return certain.length === 0 ? sure : settled(masked(sure, certain), find);
  };

  const unswallowed = (text: string): string => {
    if (!isSwallowing) return text;
    const end = text.search(WORD_END);
    isSwallowing = end < 0;
    return end < 0 ? "" : text.slice(end);
  };

  return {
    push(text) {
      pending += unswallowed(text);
      return pending.length < BATCH_CHARS + hold ? "" : letGo(false);
    },
    end: () => letGo(true),
  };
}

/** Up to where the text may go: not into what is held back, not into the middle of a match. */
function cutOf({
  ranges,
  begin,
  length,
  hold,
}: {
  ranges: Range[];
  begin: number;
  length: number;
  hold: number;
}): number {
  const cut = Math.max(begin, length - hold);
  const across = ranges.find(({ start, end }) => start < cut && end > cut);
  if (across === undefined) return cut;
  if (across.end < length) return across.end;
  return length - across.start > MAX_OPEN_CHARS ? length : across.start;
}
