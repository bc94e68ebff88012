/**
 * Which lines of a markdown text are neither code nor comment, by the block rules of CommonMark as far as a task list
 * needs them: code inside a list item ends with the item, and what is indented by four columns more than its place is
 * code unless it goes on with a paragraph. Pure.
 */

const TAB_COLUMNS = 4;
const CODE_COLUMNS = 4;
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/;
const BULLET = /^(?:\uFEFF?)[ \t]*([-*+]|\d{1,9}[.)])([ \t]+|$)(.*)$/;
const RULE = /^[ \t]*([-*_])([ \t]*\1){2,}[ \t]*$/;
const HEADING = /^[ \t]*#{1,6}(\s|$)/;
const UNDERLINE = /^[ \t]*(=+|-+)[ \t]*$/;

export const columnsOf = (line: string): number => columnsIn(/^\uFEFF?([ \t]*)/.exec(line)?.[1] ?? "", 0);

/** Where blanks that begin at column `from` end. */
function columnsIn(blanks: string, from: number): number {
  return blanks.split("").reduce((n, c) => n + (c === "\t" ? TAB_COLUMNS - (n % TAB_COLUMNS) : 1), from);
}

interface Reader {
  /** Columns at which the contents of the open list items begin, outermost first. */
  items: number[];
  isParagraph: boolean;
  /** What hides lines: until its end, or the end of the list item whose contents begin at `within`. */
  hiding: { fence: string | undefined; within: number } | undefined;
}

/** `isTask`: what such a line says ends with it, so it never opens a comment over the tasks below. */
export function visibleLines(lines: readonly string[], isTask: (line: string) => boolean): boolean[] {
  const reader: Reader = { items: [], isParagraph: false, hiding: undefined };
  return lines.map((line) => isVisible(reader, line.replace(/\r?\n$/, ""), isTask));
}

function isVisible(reader: Reader, line: string, isTask: (line: string) => boolean): boolean {
  const columns = columnsOf(line);
  if (line.trim() === "") {
    reader.isParagraph = false;
    return reader.hiding === undefined;
  }
  if (reader.hiding !== undefined && columns >= reader.hiding.within) {
    if (isOver(reader.hiding, line)) reader.hiding = undefined;
    return false;
  }
  reader.hiding = undefined;
  while (columns < place(reader)) reader.items.pop();
  const isDeep = columns - place(reader) >= CODE_COLUMNS;
  if (isDeep && !reader.isParagraph) return false;
  // Too deep to begin anything, it goes on with the paragraph.
  if (!isDeep || isTask(line)) begin(reader, { line, from: 0 });
  if (reader.hiding !== undefined) return false;
  if (!isTask(line) && opensComment(line)) reader.hiding = { fence: undefined, within: place(reader) };
  return true;
}

const place = ({ items }: Reader): number => items.at(-1) ?? 0;

function isOver({ fence, within }: NonNullable<Reader["hiding"]>, line: string): boolean {
  if (fence === undefined) return line.includes("-->");
  const [, mark, rest = ""] = FENCE.exec(line) ?? [];
  return mark?.startsWith(fence) === true && rest.trim() === "" && columnsOf(line) - within < CODE_COLUMNS;
}

/** What kind of block the line, which stands at column `from`, begins or goes on with. */
function begin(reader: Reader, { line, from }: { line: string; from: number }): void {
  const wasParagraph = reader.isParagraph;
  reader.isParagraph = false;
  const [, mark, info = ""] = FENCE.exec(line) ?? [];
  // An info string with a backtick in it is inline code.
  if (mark !== undefined && !(mark.startsWith("`") && info.includes("`"))) {
    reader.hiding = { fence: mark, within: place(reader) };
    return;
  }
  if (RULE.test(line) || HEADING.test(line) || (wasParagraph && UNDERLINE.test(line))) return;
  const [, bullet, blanks = "", rest = ""] = BULLET.exec(line) ?? [];
  if (bullet === undefined) {
    reader.isParagraph = true;
    return;
  }
  const end = from + columnsOf(line) + bullet.length;
  const contents = columnsIn(blanks, end);
  // Contents that are code themselves begin right behind the bullet; so do those that only come with the next line.
  reader.items.push(rest === "" || contents - end > CODE_COLUMNS ? end + 1 : contents);
  if (rest !== "") begin(reader, { line: rest, from: contents });
}

/** Not inside inline code. */
function opensComment(line: string): boolean {
  const words = line.replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
  const opened = words.lastIndexOf("<!--");
  return opened >= 0 && !words.includes("-->", opened);
}
