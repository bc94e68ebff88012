/** The words of a command line, with quotes and backslashes as in a shell and nothing else of one. */
import { UsageError } from "../../errors.ts";

const TOKEN = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;

/** Throws UsageError for a quote that does not end. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  for (const match of line.matchAll(TOKEN)) {
    at = match.index + match[0].length;
    const [, single, double, escaped, plain] = match;
    const part = single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain;
    if (part !== undefined) word = (word ?? "") + part;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (at < line.length) {
    throw new UsageError(`--agent acp:${line}: a quote does not end`, {
      hint: "acp:'gemini --acp', acp:\"'my agent' acp\"",
    });
  }
  return word === undefined ? words : [...words, word];
}
