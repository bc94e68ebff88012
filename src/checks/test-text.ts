/**
 * What the text of a test file says of its tests, as far as patterns can tell: which names stand in it, and which tests it
 * says may be skipped or may fail. Pure. Names that a program makes while the tests run stand in no text.
 */

import { languageOf } from "./guard/languages.ts";
import { withoutStrings } from "./js-strings.ts";

export interface TestText {
  /** Whether the text, as it is, skips the test of these names, or may: a mark of its own, of what is around it, or of all. */
  mayBeSkipped(names: readonly string[]): boolean;
  /** Whether it says of anything that it may be skipped. */
  readonly speaksOfSkips: boolean;
  /** Names of tests that run whenever the file is loaded, by all that can be told: no mark, no condition, no made name. */
  readonly always: readonly string[];
  /** Whether it stands in the text: a string, or the name of a function. */
  has(name: string): boolean;
}

interface Language {
  endings: RegExp;
  /** That a test is not run, or that its failure is expected. */
  skips: RegExp;
  /** That all tests but some are not run. */
  only?: RegExp;
  blocks(text: string): Block[];
  has(text: string, name: string): boolean;
}

/** A part of the text that belongs to tests of one name: a test, or the head of what holds some. */
interface Block {
  name: string;
  kind: "test" | "group";
  text: string;
  /** Whether a test of this very name is there as soon as the file is loaded. */
  isSure?: boolean;
}

/** What stands in no block belongs to every test. */
const OTHERS = "";

export function testText(path: string, given: string): TestText | undefined {
  const language = LANGUAGES.find(({ endings }) => endings.test(path));
  if (language === undefined) return undefined;
  const text = given.replaceAll(languageOf(path)?.comments ?? /$^/g, "");
  const blocks = language.blocks(text);
  const says = (part: string): boolean => language.skips.test(part);
  const whole = blocks.map((block) => block.text).join("\n");
  return {
    has: (name) => language.has(text, name),
    speaksOfSkips: says(whole),
    always: blocks.some(({ kind, text: part }) => kind === "group" && says(part))
      ? []
      : blocks.filter(({ isSure = false, text: part }) => isSure && !says(part)).map(({ name }) => name),
    mayBeSkipped(names) {
      if (!says(whole)) return false;
      if (language.only?.test(whole) === true) return true;
      const own = names.map((name) => name.replace(/ \(\d+\)$/, ""));
      const isKnown = blocks.some(({ kind, name }) => kind === "test" && own.includes(name));
      // A name that was made: the text cannot tell whose mark it is.
      if (!isKnown) return true;
      return blocks.some(({ name, text: part }) => (name === OTHERS || own.includes(name)) && says(part));
    },
  };
}

const JS_HEAD =
  /(?<![.\w$"'`])(?<kind>[xf]?(?:it|test|specify|describe|suite|context))(?<how>(?:\.\w+(?:\([^()]*\))?)*)\s*\(\s*(?<quote>["'`])(?<name>(?:\\.|(?!\k<quote>)[^\\]){0,500})\k<quote>/g;

const JAVASCRIPT: Language = {
  endings: /\.(?:[cm]?[jt]sx?|vue|svelte)$/,
  skips:
    /(?<![.\w$])(?:it|test|describe|suite|context|specify)(?:\.\w+(?:\([^()]*\))?)*\.(?:skip|skipIf|runIf|todo|only|failing|fails|fixme|if)\b|(?<![.\w$])[xf](?:it|test|describe|context|specify)\s*[(.]|(?<![.\w$])pending\s*\(|(?<![.\w$])(?:this|t|ctx|context|test|it|tc)\.(?:skip|todo)\s*\(|\(\s*\{[^(){}]*\bskip\b[^(){}]*\}\s*\)\s*=>|[{,]\s*(?:skip|todo|only|fails|expectFailure)\b\s*[:,}]\s*(?!false)|(?<![.\w$])(?:skip(?:If|Unless|On|When|Test)\w*|(?:it|test|describe)(?:If|Unless|On|When)\w*|maybe(?:It|Test|Describe)\w*)\s*[(.]|(?<![.\w$])(?:it|test|specify)\s*\(\s*(?<without>["'`])(?:\\.|(?!\k<without>)[^\\\n])*\k<without>\s*\)/,
  only: /(?<![.\w$])(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.only\b|(?<![.\w$])f(?:it|test|describe|context|specify)\s*[(.]|[{,]\s*only\s*:/,
  blocks(text) {
    const code = withoutStrings(text);
    // Code that a test is about stands in strings.
    const heads = [...text.matchAll(JS_HEAD)].filter(({ index }) => code[index] === text[index]);
    const hasChoice = JS_CHOICE.test(code);
    const before = { name: OTHERS, kind: "group" as const, text: code.slice(0, heads[0]?.index ?? code.length) };
    const found = heads.flatMap((head, at): Block[] => {
      const { kind = "", name = "", how = "" } = head.groups ?? {};
      const isSure = !hasChoice && how === "" && !/[%$]/.test(name);
      const whole = code.slice(head.index, heads[at + 1]?.index ?? code.length);
      if (!/^[xf]?(?:describe|suite|context)$/.test(kind))
        return [{ name: plainName(name), kind: "test", text: whole, isSure }];
      return [
        { name: plainName(name), kind: "group", text: whole.slice(0, head[0].length) },
        { name: OTHERS, kind: "group", text: whole.slice(head[0].length) },
      ];
    });
    return [before, ...found];
  },
  has: (text, name) => ["'", '"', "`"].some((quote) => text.includes(`${quote}${name}${quote}`)),
};

/** Tests that are there or not, as a condition has it. */
const JS_CHOICE = /\b(?:if\s*\([^\n]*\)|else)\s*\{?\s*(?:it|test|describe|specify|context|suite)\b/;

/** As the runner has it. */
const plainName = (name: string): string => name.replaceAll(/\\(.)/g, "$1").replaceAll(/\s+/g, " ").trim();

const PY_BLOCK = /^(?<indent>[ \t]*)(?:async\s+)?(?:def\s+(?<test>test\w*)|class\s+(?<group>\w+))\b/;

/** Classes whose tests pytest and unittest look for. */
const PY_COLLECTED = /\bclass\s+(?:Test\w*|\w+\s*\([^)]*TestCase[^)]*\))/;
/** Of a class's own functions, in columns. */
const MAX_PY_INDENT = 4;

const PYTHON: Language = {
  endings: /\.pyi?$/,
  skips:
    /@(?:\w+\.)*\w*(?:skip|xfail|expectedfailure|require|need|only|unless)\w*|\b(?:pytest|unittest)\.(?:skip|xfail|importorskip|SkipTest|mark\.(?:skip|skipif|xfail))\b|\bmark\.(?:skip|skipif|xfail)\b|\bself\.skipTest\b|\braise\s+(?:\w+\.)?SkipTest\b|\bfrom\s+(?:pytest|unittest)\S*\s+import\b[^\n]*\b(?:skip\w*|SkipTest|xfail|importorskip|expectedFailure)\b/i,
  blocks(text) {
    const lines = text.split("\n");
    const indentOf = (line: string): number => line.length - line.trimStart().length;
    const taken = new Set<number>();
    let collected: number | undefined;
    const found = lines.flatMap((line, at): Block[] => {
      const { test, group } = PY_BLOCK.exec(line)?.groups ?? {};
      const name = test ?? group;
      if (name === undefined || taken.has(at)) return [];
      const indent = indentOf(line);
      const from = decoratorsAbove(lines, at, indent);
      const isOutside = (one: string): boolean =>
        one.trim() !== "" && indentOf(one) <= indent && !/^\s*[)\]}#]/.test(one);
      const below = lines.findIndex((one, n) => n > at && isOutside(one));
      // Of a class only its head: what is in it are blocks of their own.
      const to = group !== undefined ? at + 1 : below === -1 ? lines.length : below;
      for (let n = from; n < to; n += 1) taken.add(n);
      const part = lines.slice(from, to).join("\n");
      if (group !== undefined) collected = PY_COLLECTED.test(line) ? indent : undefined;
      const isMember = collected !== undefined && indent > collected && indent <= collected + MAX_PY_INDENT;
      // Any mark may be what tests are chosen by.
      const isSure = test !== undefined && (indent === 0 || isMember) && !part.includes("mark.");
      return [{ name, kind: test === undefined ? "group" : "test", text: part, isSure }];
    });
    const others = lines.filter((_, at) => !taken.has(at)).join("\n");
    return [{ name: OTHERS, kind: "group", text: others }, ...found];
  },
  has: (text, name) => new RegExp(String.raw`\b(?:def|class)\s+${escaped(name)}\b`).test(text),
};

/** The first of the lines that belong to what is defined at a line: its decorators, each of one line or several. */
function decoratorsAbove(lines: readonly string[], at: number, indent: number): number {
  let from = at;
  for (let n = at - 1; n >= 0; n -= 1) {
    const line = lines[n] ?? "";
    const own = line.length - line.trimStart().length;
    if (own === indent && line.trimStart().startsWith("@")) from = n;
    else if (line.trim() === "" || own < indent || (own === indent && !/^\s*[)\]}]/.test(line))) break;
  }
  return from;
}

const GO: Language = {
  endings: /\.go$/,
  skips: /\.Skip(?:f|Now)?\s*\(|\btesting\.Short\s*\(|(?<![.\w])[sS]kip\w+\s*\(/,
  blocks(text) {
    const heads = [...text.matchAll(/^func\s+(?<name>(?:Test|Fuzz|Example)\w*)\s*\(/gm)];
    const others: string[] = [text.slice(0, heads[0]?.index ?? text.length)];
    const found = heads.map((head, at): Block => {
      const part = text.slice(head.index, heads[at + 1]?.index ?? text.length);
      const end = /^\}/m.exec(part);
      const to = end === null ? part.length : end.index + 1;
      others.push(part.slice(to));
      return { name: head.groups?.["name"] ?? "", kind: "test", text: part.slice(0, to) };
    });
    return [{ name: OTHERS, kind: "group", text: others.join("\n") }, ...found];
  },
  // In the names of subtests go writes blanks as underscores.
  has: (text, name) =>
    [name, name.replaceAll("_", " ")].some((one) => text.includes(`"${one}"`) || text.includes(`\`${one}\``)) ||
    new RegExp(String.raw`\bfunc\s+${escaped(name)}\b`).test(text),
};

const LANGUAGES: readonly Language[] = [JAVASCRIPT, PYTHON, GO];

const escaped = (name: string): string => name.replaceAll(/[^\w]/g, String.raw`\$&`);
