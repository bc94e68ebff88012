/** A shell text cut into simple commands, as far as names of files need it: no expansion, nothing is run. Pure. */

/**
 * `open` and `close` are the brackets of a subshell: a `cd` counts until they close; `inner` where what it prints is a word
 * of the command that follows. `operator` is the one after it: `&&`, `||`, `|`, `&`, `;`, a new line, or none.
 */
export type Step =
  | { is: "words"; words: string[]; input?: string; operator: string }
  | { is: "open"; inner: boolean }
  | { is: "close"; operator: string };

const SPACE = /[ \t\r]/;
const MAX_CHARS = 200_000;
/** Of commands within commands. */
const MAX_NESTING = 8;

/** `quotes`: whether a quoted text may go over lines; in what may be no shell text an apostrophe would hide the rest. */
export function stepsOf(
  given: string,
  { quotes, nesting = 0 }: { quotes: "lines" | "line"; nesting?: number },
): Step[] {
  const text = given.slice(0, MAX_CHARS).replaceAll(/\\\n/g, " ");
  const steps: Step[] = [];
  let words: string[] = [];
  let input: string | undefined;
  let redirect: "none" | "in" | "out" = "none";
  let word: string | undefined;
  const endWord = (): void => {
    if (word === undefined) return;
    if (redirect === "none") words.push(word);
    else if (redirect === "in") input = word;
    redirect = "none";
    word = undefined;
  };
  const endCommand = (operator = ""): void => {
    endWord();
    const last = steps.at(-1);
    if (words.length > 0) steps.push({ is: "words", words, ...(input === undefined ? {} : { input }), operator });
    else if (last?.is === "close" && last.operator === "") last.operator = operator;
    [words, input, redirect] = [[], undefined, "none"];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "'" || char === '"') {
      const end = closing(text, { at, quotes });
      // One that nothing closes is no quote.
      if (end === undefined) continue;
      const inside = text.slice(at + 1, end);
      word = (word ?? "") + (char === '"' ? inside.replaceAll(/\\(["\\$`])/g, "$1") : inside);
      at = end;
    } else if (char === "$" && text[at + 1] === "(" && nesting < MAX_NESTING) {
      const end = closingBracket(text, at + 1);
      const inside = stepsOf(text.slice(at + 2, end), { quotes, nesting: nesting + 1 });
      steps.push({ is: "open", inner: true }, ...inside, { is: "close", operator: "" });
      word = (word ?? "") + text.slice(at, end + 1);
      at = end;
    } else if (char === "#" && word === undefined) {
      const end = text.indexOf("\n", at);
      at = (end === -1 ? text.length : end) - 1;
    } else if (char === "\\") {
      word = (word ?? "") + (text[at + 1] ?? "");
      at += 1;
    } else if (SPACE.test(char)) endWord();
    else if (char === "<" || char === ">") {
      if (/^\d$/.test(word ?? "")) word = undefined;
      endWord();
      redirect = char === "<" && text[at + 1] !== "<" && redirect === "none" ? "in" : "out";
    } else if (char === "&" && redirect !== "none" && word === undefined) redirect = "out";
    else if (/[;&|\n`]/.test(char)) endCommand(text[at + 1] === char && char !== "\n" ? char + char : char);
    else if (char === "(" || char === ")") {
      endCommand();
      steps.push(char === "(" ? { is: "open", inner: false } : { is: "close", operator: "" });
    } else word = (word ?? "") + char;
  }
  endCommand();
  return steps;
}

function closing(text: string, { at, quotes }: { at: number; quotes: "lines" | "line" }): number | undefined {
  const quote = text[at];
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === "\\" && quote === '"') end += 1;
    else if (text[end] === quote) return end;
    else if (text[end] === "\n" && quotes === "line") return undefined;
  }
  return undefined;
}

/** The end of the text, where it has none. */
function closingBracket(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}
