/**
 * What of a long history stands in a prompt. Pruning happens in steps: nothing changes until the budget is passed, then
 * as much goes as makes it half full, so that the provider's cache of the prefix lives from one step to the next. The
 * same attempts always come to the same cut, whoever makes the prompt. Pure.
 */

/**
 * Tokens are counted as bytes of JSON: code, the shortest words that a model sees much of, has more than this a token.
 * What is known to have less weighs more.
 */
const BYTES_PER_TOKEN = 3;
/** Of a letter of another script. */
const TOKENS_PER_FOREIGN = 2;
/** What no language has words of so long: keys, hashes, base64; a token for every one or two of its characters. */
const UNBROKEN_CHARS = 24;
const [ASCII_END, ZERO, NINE] = [0x80, 0x30, 0x39];
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
/** By its character code: of which words, keys and base64 are made. */
const IN_WORD = Array.from({ length: ASCII_END }, (_, code) => /[A-Za-z0-9+/=_-]/.test(String.fromCodePoint(code)));
/** What stands in a request beside the prompt: the schema of the answer, an agent's own words. */
const OVERHEAD_TOKENS = 1_000;
/** The least that a question, a few attempts and the rules can be told in. */
export const MIN_REQUEST_TOKENS = 8_000;

/** Of one prompt, in the measure of `wireBytes`. */
export const promptBytes = (requestTokens: number): number => (requestTokens - OVERHEAD_TOKENS) * BYTES_PER_TOKEN;

/** How much a text weighs in a request: in bytes of JSON, of plain words that would have as many tokens. */
export function wireBytes(text: string): number {
  let more = 0;
  let letters = 0;
  let digits = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    if (code >= ASCII_END) more += foreignWeight(code);
    if (IN_WORD[code] === true) {
      if (isDigit(code)) digits += 1;
      else letters += 1;
      continue;
    }
    // Each digit may be a token of its own, and what stands in a key has hardly less.
    more += digits * (BYTES_PER_TOKEN - 1) + (letters + digits >= UNBROKEN_CHARS ? letters : 0);
    letters = 0;
    digits = 0;
  }
  return Buffer.byteLength(JSON.stringify(text)) + more;
}

/** Beside its bytes; of a pair of halves each has half. */
function foreignWeight(code: number): number {
  const bytes = code < 0x800 ? 2 : isHalf(code) ? 2 : 3;
  return (TOKENS_PER_FOREIGN * BYTES_PER_TOKEN) / (isHalf(code) ? 2 : 1) - bytes;
}
const isHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

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
