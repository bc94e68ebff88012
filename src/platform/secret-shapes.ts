/** Secrets by their own shape: the prefixes providers give their keys, tokens in headers and URLs, private keys. */
import { findLiterals, type Finder, type Found } from "./literals.ts";

/** What follows a prefix. The prefixes are searched first, all at once; a pattern is only tried where one stands. */
const KEYS: Readonly<Record<string, RegExp>> = {
  "sk-": /[\w-]{20,}/y,
  ...each("ghp_ gho_ ghu_ ghs_ ghr_", /[A-Za-z0-9]{20,}/y),
  github_pat_: /\w{20,}/y,
  ...each("glpat- gldt- glrt- glptt- glsoat- glcbt-", /[\w-]{20,}/y),
  ...each("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", /[A-Za-z0-9-]{10,}/y),
  ...each("AKIA ASIA ABIA ACCA", /[A-Z0-9]{16}(?![A-Za-z0-9])/y),
  AIza: /[\w-]{35}/y,
  "ya29.": /[\w-]{20,}/y,
  npm_: /[A-Za-z0-9]{36}/y,
  "pypi-": /[\w-]{50,}/y,
  hf_: /[A-Za-z0-9]{30,}/y,
  ...each("sk_live_ sk_test_ rk_live_ rk_test_", /[A-Za-z0-9]{16,}/y),
  "SG.": /[\w-]{16,}\.[\w-]{16,}/y,
  dop_v1_: /[0-9a-f]{64}/y,
  eyJ: /[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/y,
};
/** A prefix in the middle of a word is none; so a long word is also tried once only, not from each letter. */
const WORD = /[\w-]/;
const findPrefixes = findLiterals(Object.keys(KEYS));

const BEARER = /(?:bearer|Bearer|BEARER)\s{1,3}([A-Za-z0-9._~+/=-]{16,})/g;
const BASIC = /uthorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?:basic|token)\s{1,3}([A-Za-z0-9._~+/=-]{8,})/gi;
const USERINFO = /:\/\/[^\s:@/"'`<>]{0,100}:([^\s@/"'`<>${}*]{3,200})@/g;
/** Up to the dashes of the end line; headers such as `Proc-Type` have single ones. */
const PRIVATE_KEY = /PRIVATE KEY(?: BLOCK)?-----((?:\\[nr]|[A-Za-z0-9+/=\s:,.()]|-(?!-)){40,})/g;

function each(prefixes: string, rest: RegExp): Record<string, RegExp> {
  return Object.fromEntries(prefixes.split(" ").map((prefix) => [prefix, rest]));
}

/** `sk-` begins ordinary hyphenated names too; a key mixes letters and digits. */
function isKey(token: string): boolean {
  return !token.startsWith("sk-") || /[A-Za-z]\d|\d[A-Za-z]/.test(token);
}

const findKeys: Finder = (text, found) =>
  findPrefixes(text, (start, end) => {
    if (start > 0 && WORD.test(text.charAt(start - 1))) return;
    const rest = KEYS[text.slice(start, end)];
    if (rest === undefined) return;
    rest.lastIndex = end;
    const match = rest.exec(text);
    if (match !== null && isKey(text.slice(start, rest.lastIndex))) found(start, rest.lastIndex);
  });

/** Marks the captured part, which is the last but `after` characters of the match. */
function mark(match: RegExpExecArray, { after, found }: { after: number; found: Found }): void {
  const end = match.index + match[0].length - after;
  found(end - (match[1] ?? "").length, end);
}

export const findShapes: Finder = (text, found) => {
  findKeys(text, found);
  for (const match of text.matchAll(BEARER)) if (/\d/.test(match[1] ?? "")) mark(match, { after: 0, found });
  for (const match of text.matchAll(BASIC)) mark(match, { after: 0, found });
  for (const match of text.matchAll(USERINFO)) mark(match, { after: 1, found });
  if (text.includes("PRIVATE KEY")) for (const match of text.matchAll(PRIVATE_KEY)) mark(match, { after: 0, found });
};
