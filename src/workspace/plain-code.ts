/** JavaScript with nothing but blanks where its strings, comments and regular expressions are: every place stays. Pure. */

/** After these a slash begins a regular expression. */
const BEFORE_REGEXP = /(?:^|[([{,;=:!&|?+*%<>~^-]|\b(?:return|typeof|case|in|of|do|else|await|yield|throw))\s*$/;
const MAX_LOOK_BACK_CHARS = 40;

export function plainCode(text: string): string {
  let code = "";
  let at = 0;
  const skipTo = (end: number): void => {
    code += text.slice(at, end).replaceAll(/[^\n]/g, " ");
    at = end;
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    const two = text.slice(at, at + 2);
    if (two === "//" || (at === 0 && two === "#!")) skipTo(endOf(text, "\n", at));
    else if (two === "/*") skipTo(endOf(text, "*/", at + 2) + 2);
    else if (char === '"' || char === "'" || char === "`") skipTo(closing(text, at));
    else if (char === "/" && BEFORE_REGEXP.test(code.slice(-MAX_LOOK_BACK_CHARS))) skipTo(closing(text, at));
    else {
      code += char;
      at += 1;
    }
  }
  return code.slice(0, text.length);
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end;
}

/** Behind the quote, or the slash, that closes the one at `from`. */
function closing(text: string, from: number): number {
  const quote = text[from];
  let isClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (quote === "`" && char === "$" && text[at + 1] === "{") at = closingBrace(text, at + 1);
    else if (quote === "/" && char === "[") isClass = true;
    else if (quote === "/" && char === "]") isClass = false;
    else if (char === quote && !isClass) return at + 1;
    else if (char === "\n" && quote !== "`") return at;
  }
  return text.length;
}

/** Of `${`, with the texts in it. */
function closingBrace(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (/["'`]/.test(char)) at = closing(text, at) - 1;
    else if (char === "{") depth += 1;
    else if (char === "}" && (depth -= 1) === 0) return at;
  }
  return text.length;
}
