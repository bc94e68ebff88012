/**
 * Texts with `{{variables}}`: a person's own prompt, the title of commits. `{{{{` is a literal `{{`. Pure; names are
 * checked before a run starts, so filling never fails.
 */

type Piece = { text: string } | { name: string };

export interface Use {
  name: string;
  /** From 1. */
  line: number;
}

const VARIABLE = /\{\{\{\{|\{\{([^{}\n]*)\}\}/g;

function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of line.matchAll(VARIABLE)) {
    const [found, name] = match;
    pieces.push({ text: line.slice(at, match.index) }, name === undefined ? { text: "{{" } : { name: name.trim() });
    at = match.index + found.length;
  }
  return [...pieces, { text: line.slice(at) }];
}

/** Every variable, in order. */
export function usesOf(template: string): Use[] {
  return template
    .split("\n")
    .flatMap((line, at) =>
      piecesOf(line).flatMap((piece) => ("name" in piece ? [{ name: piece.name, line: at + 1 }] : [])),
    );
}

/** The line with a `{{` that is neither a variable nor doubled; undefined when there is none. */
export function unclosedLine(template: string): number | undefined {
  const at = template.split("\n").findIndex((line) => line.replaceAll(VARIABLE, "").includes("{{"));
  return at < 0 ? undefined : at + 1;
}

/** A line of nothing but variables that are empty is left out, with one blank line beside it. */
export function fill(template: string, valueOf: (name: string) => string): string {
  const lines: string[] = [];
  let dropped = false;
  for (const line of template.split("\n")) {
    const pieces = piecesOf(line);
    const filled = pieces.map((piece) => ("name" in piece ? valueOf(piece.name) : piece.text)).join("");
    const isBlank = filled.trim() === "";
    const isEmptied = isBlank && pieces.some((piece) => "name" in piece);
    const isDoubled = dropped && isBlank && (lines.at(-1) ?? "").trim() === "";
    dropped = isEmptied;
    if (!isEmptied && !isDoubled) lines.push(filled);
  }
  return lines.join("\n");
}
