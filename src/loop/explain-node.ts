/** What Node prints when an error was caught by nobody, or was printed and ended with: with causes, and syntax. Pure. */
import type { Found, Frame } from "./explain-execution.ts";

const VERSION = /^Node\.js v\d/;
const CARET = /^\s*\^+\s*$/;
const PLACE = /^(.+):(\d+)$/;
const TITLE = /^(?:Uncaught )?([A-Za-z_$][\w$.]*)(?: \[[\w ]+\])?(?:: (.*))?$/;
const ERROR_TITLE = /^(?:Uncaught )?[A-Z][\w$.]*(?:Error|Exception)(?: \[[\w ]+\])?: /;
const AT = /^\s+at (?:async )?(?:(.*?) \()?((?:file:\/\/)?[^()]*?):(\d+):\d+\)?(?: \{|,)?$/;
const ANY_AT = /^\s+at /;
const CAUSE = /^\s+\[cause\]: (.*)$/;
const ERRORS = /^\s+\[errors\]: \[$/;
const HEAP = /heap out of memory|Fatal process out of memory/;
/** How far above the mark the place stands. */
const MAX_MARKED_LINES = 4;
/** Of a message. */
const MAX_LINES = 12;

export function parseNode(lines: readonly string[]): Found | undefined {
  if (lines.some((line) => HEAP.test(line)))
    return { type: "OutOfMemory", message: "JavaScript heap out of memory", frames: [], causes: [], isSyntax: false };
  const version = lines.findLastIndex((line) => VERSION.test(line));
  if (version >= 0) return uncaught(lines.slice(0, version));
  const at = lines.findLastIndex(
    (line, n) => ERROR_TITLE.test(line) && lines.slice(n + 1, n + MAX_LINES).some((next) => ANY_AT.test(next)),
  );
  return at < 0 ? undefined : errorIn(lines.slice(at), undefined);
}

function uncaught(lines: readonly string[]): Found | undefined {
  const caret = lines.findLastIndex((line) => CARET.test(line));
  const above = lines.slice(Math.max(0, caret - MAX_MARKED_LINES), Math.max(0, caret));
  const [, file = "", line] = above.map((one) => PLACE.exec(one)).findLast((found) => found !== null) ?? [];
  const place = line === undefined ? undefined : { file, line: Number(line), function: null, text: null };
  return errorIn(lines.slice(caret + 1), place);
}

/** From its title on. `place`: where it stopped, as printed before. */
function errorIn(lines: readonly string[], place: Frame | undefined): Found | undefined {
  const first = lines.findIndex((line) => line.trim() !== "");
  if (first < 0) return undefined;
  const title = (lines[first] ?? "").replace(/ \{$/, "").replace(/^\[(.*)\]$/, "$1");
  const rest = lines.slice(first + 1);
  const stack = rest.findIndex((line) => ANY_AT.test(line) || CAUSE.test(line) || ERRORS.test(line));
  const [, type, told = ""] = TITLE.exec(title) ?? [undefined, "Uncaught", title];
  const more = stack < 0 ? [] : rest.slice(0, Math.min(stack, MAX_LINES));
  const cause = rest.findIndex((line) => CAUSE.test(line) || ERRORS.test(line));
  const inner = cause < 0 ? [] : rest.slice(cause);
  const own = framesIn(cause < 0 ? rest : rest.slice(0, cause));
  const below = framesIn(inner);
  const isOwn = ({ file }: Frame): boolean =>
    !file.startsWith("node:") && !file.startsWith("<") && !file.includes("/node_modules/");
  // Compiled before anything ran: no frame of the program's can be there.
  const isSyntax = type === "SyntaxError" && !own.some(isOwn) && place !== undefined && isOwn(place);
  const found = [own, below].find((some) => some.some(isOwn)) ?? (place === undefined ? own : [...own, place]);
  return {
    type: type ?? "Error",
    message: [told, ...more].join("\n").trim(),
    frames: isSyntax && place !== undefined ? [place] : found,
    causes: causeOf(inner),
    isSyntax,
  };
}

function framesIn(lines: readonly string[]): Frame[] {
  return lines
    .flatMap((line): Frame[] => {
      const found = AT.exec(line);
      if (found === null) return [];
      const name = found[1] ?? "<module>";
      const isTop = name === "Object.<anonymous>" || name === "";
      return [{ file: found[2] ?? "", line: Number(found[3]), function: isTop ? "<module>" : name, text: null }];
    })
    .toReversed();
}

function causeOf([first = "", second = ""]: readonly string[]): string[] {
  const words = CAUSE.exec(first)?.[1] ?? second.trim();
  return words === "" ? [] : [words.replace(/ \{$/, "").replace(/^\[(.*)\]$/, "$1")];
}
