/**
 * What of a long history stands in a prompt. Pruning happens in steps: nothing changes until the budget is passed, then
 * as much goes as makes it half full, so that the provider's cache of the prefix lives from one step to the next. The
 * same attempts always come to the same cut, whoever makes the prompt. Pure.
 */

/** Tokens are counted as bytes of JSON: code, the shortest words that a model sees much of, has more than this a token. */
const BYTES_PER_TOKEN = 3;
/** What stands in a request beside the prompt: the schema of the answer, an agent's own words. */
const OVERHEAD_TOKENS = 1_000;
/** The least that a question, a few attempts and the rules can be told in. */
export const MIN_REQUEST_TOKENS = 8_000;

/** Of one prompt, in bytes of JSON. */
export const promptBytes = (requestTokens: number): number => (requestTokens - OVERHEAD_TOKENS) * BYTES_PER_TOKEN;

/** How long a text is in a request. */
export const wireBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Its beginning and its end, so that it takes at most so many bytes in a request. */
export function fitted(text: string, maxBytes: number): string {
  if (wireBytes(text) <= maxBytes) return text;
  let keep = Math.max(0, maxBytes - MARK_BYTES);
  for (;;) {
    const half = Math.floor(keep / 2);
    const left = text.length - 2 * half;
    const shorter =
      left <= 0 ? text : `${text.slice(0, half)}\n[… ${left} characters left out]\n${text.slice(-half || text.length)}`;
    if (wireBytes(shorter) <= maxBytes || half === 0) return half === 0 ? "" : shorter;
    keep = Math.floor(keep * SHRINK);
  }
}
const MARK_BYTES = 48;
const SHRINK = 0.8;

/** In bytes of JSON. */
export interface Sizes {
  whole: number;
  stub: number;
}

/** The first `counted` are only counted, those up to `stubs` are one line each, the others stand whole. */
export interface Cut {
  counted: number;
  stubs: number;
}

/** Of the budget that lines may take before the oldest are only counted, and what is left of them then. */
const MAX_STUBS_SHARE = 0.5;
const KEPT_STUBS_SHARE = 0.25;
/** Of what the lines leave of the budget: how much of it attempts take after a step of pruning. */
const KEPT_SHARE = 0.5;

export function pruned(attempts: readonly Sizes[], budget: number): Cut {
  const cut = { counted: 0, stubs: 0 };
  const used = { whole: 0, stubs: 0 };
  for (const [at, { whole }] of attempts.entries()) {
    used.whole += whole;
    if (used.whole + used.stubs <= budget) continue;
    while (cut.stubs < at && used.whole > (budget - used.stubs) * KEPT_SHARE) {
      used.whole -= attempts[cut.stubs]?.whole ?? 0;
      used.stubs += attempts[cut.stubs]?.stub ?? 0;
      cut.stubs += 1;
    }
    if (used.stubs <= budget * MAX_STUBS_SHARE) continue;
    while (cut.counted < cut.stubs && used.stubs > budget * KEPT_STUBS_SHARE) {
      used.stubs -= attempts[cut.counted]?.stub ?? 0;
      cut.counted += 1;
    }
  }
  return cut;
}
