/** Names that say "secret": of variables, of JSON keys, of options. Judged by whole segments, so `monkey` is none. */

/** Segments that say so alone. */
const STRONG = /^(?:SECRETS?|CREDENTIALS?|APIKEY|ACCESSKEY|\w*(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET))$/;
/** Segments that often mean something else: a map's key, a page's author. */
const WEAK = /^(?:KEYS?|AUTH|PRIVATE|PWD|PASS|AUTHORIZATION|PASSWORDS)$/;
/** Beside a weak segment they settle it. */
const QUALIFYING = /^(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|MASTER|SERVICE|ACCOUNT|STORAGE|DEPLOY|LICENSE)$/;

function segmentsOf(name: string): string[] {
  const spaced = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
  return spaced
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((segment) => segment !== "");
}

/** `strong`: its value is a secret; `weak`: only if it looks like one. */
type Secrecy = "strong" | "weak" | "none";

/** The same few names come again and again in one text. */
const MAX_KNOWN_NAMES = 1_000;
/** A longer piece of a text would keep the whole text in memory. */
const MAX_KNOWN_CHARS = 12;
const known = new Map<string, Secrecy>();

export function secrecyOf(name: string): Secrecy {
  const before = known.get(name);
  if (before !== undefined) return before;
  const secrecy = judged(name);
  if (name.length > MAX_KNOWN_CHARS) return secrecy;
  if (known.size >= MAX_KNOWN_NAMES) known.clear();
  known.set(name, secrecy);
  return secrecy;
}

function judged(name: string): Secrecy {
  const segments = segmentsOf(name);
  if (segments.some((segment) => STRONG.test(segment))) return "strong";
  if (!segments.some((segment) => WEAK.test(segment))) return "none";
  return segments.length > 1 && segments.some((segment) => QUALIFYING.test(segment)) ? "strong" : "weak";
}

export function isSecretName(name: string): boolean {
  return secrecyOf(name) !== "none";
}
