/** Names that say "secret": of variables, of JSON keys, of options. Judged by whole segments, so `monkey` is none. */

/** Segments that say so alone. */
const STRONG = /^(?:SECRETS?|CREDENTIALS?|APIKEY|ACCESSKEY|\w*(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET))$/;
/** Segments that often mean something else: a map's key, a page's author. */
const WEAK = /^(?:KEYS?|AUTH|PRIVATE|PWD|PASS|AUTHORIZATION|PASSWORDS)$/;
/** Beside a weak segment they settle it. */
const QUALIFYING = /^(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|MASTER|SERVICE|ACCOUNT|STORAGE|DEPLOY|LICENSE)$/;

export function segmentsOf(name: string): string[] {
  const spaced = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
  return spaced
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((segment) => segment !== "");
}

/** `strong`: its value is a secret; `weak`: only if it looks like one. */
export function secrecyOf(name: string): "strong" | "weak" | "none" {
  const segments = segmentsOf(name);
  if (segments.some((segment) => STRONG.test(segment))) return "strong";
  if (!segments.some((segment) => WEAK.test(segment))) return "none";
  return segments.length > 1 && segments.some((segment) => QUALIFYING.test(segment)) ? "strong" : "weak";
}

export function isSecretName(name: string): boolean {
  return secrecyOf(name) !== "none";
}
