/** JavaScript and TypeScript without what stands in strings, patterns and comments. Pure; enough to look for words of code. */

/** Of the same length: blanks in place of all that is inside quotes, slashes and comments. */
export function withoutStrings(text: string): string {
  const kept: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = endOfInert(text, at);
    if (end === at) {
      kept.push(text[at] as string);
      at += 1;
      continue;
    }
    // The quotes stay.
    const inside = text.slice(at + 1, end - 1).replaceAll(/[^\n]/g, " ");
    kept.push(text[at] as string, inside, end - at > 1 ? (text[end - 1] as string) : "");
    at = end;
  }
  return kept.join("");
}

/** Where a string, a pattern or a comment that begins here ends; the same place where none begins. */
function endOfInert(text: string, at: number): number {
  const char = text[at];
  if (char === '"' || char === "'") return endOfQuoted(text, at, char);
  if (char === "`") return endOfTemplate(text, at);
  if (char !== "/") return at;
  if (text[at + 1] === "/") return endAfter(text, "\n", at) - 1;
  if (text[at + 1] === "*") return endAfter(text, "*/", at + 2);
  return isPattern(text, at) ? endOfPattern(text, at) : at;
}

function endAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

/** A quote that is not closed on its line was none: a part of a word in JSX, say. */
function endOfQuoted(text: string, at: number, quote: string): number {
  for (let n = at + 1; n < text.length && text[n] !== "\n"; n += 1) {
    if (text[n] === "\\") n += 1;
    else if (text[n] === quote) return n + 1;
  }
  return at;
}

function endOfTemplate(text: string, at: number): number {
  let n = at + 1;
  while (n < text.length && text[n] !== "`") {
    if (text[n] === "\\") n += 2;
    else if (text.startsWith("${", n)) n = endOfBraces(text, n + 1);
    else n += 1;
  }
  return Math.min(n + 1, text.length);
}

function endOfBraces(text: string, at: number): number {
  let [depth, n] = [0, at];
  do {
    const end = endOfInert(text, n);
    if (end === n) {
      if (text[n] === "{") depth += 1;
      if (text[n] === "}") depth -= 1;
      n += 1;
    } else n = end;
  } while (depth > 0 && n < text.length);
  return n;
}

/** After a value a slash divides. */
const isPattern = (text: string, at: number): boolean =>
  /(?:^|[(,=:[!&|?{};\n>]|\b(?:return|typeof|case|in|of))\s*$/.test(text.slice(Math.max(0, at - 20), at));

function endOfPattern(text: string, at: number): number {
  let inClass = false;
  for (let n = at + 1; n < text.length && text[n] !== "\n"; n += 1) {
    if (text[n] === "\\") n += 1;
    else if (text[n] === "[") inClass = true;
    else if (text[n] === "]") inClass = false;
    else if (text[n] === "/" && !inClass) return n + 1;
  }
  return at;
}
