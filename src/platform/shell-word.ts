/** A text as one word of a shell's command line, for people to paste. */
export const shellWord = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
