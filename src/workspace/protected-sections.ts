/**
 * Sections of a TOML or INI file put back as the base has them. What says the same by another way (a dotted key, an
 * inline table, a quoted name with escapes) cannot be told apart safely: then the whole file is put back. Pure.
 */
import type { Merged } from "./protected-json.ts";

interface Section {
  name: string;
  text: string;
}
type Syntax = "toml" | "ini";

export function mergedSections(
  theirs: string,
  base: string | undefined,
  { patterns, syntax }: { patterns: readonly string[]; syntax: Syntax },
): Merged {
  const after = split(theirs, { patterns, syntax });
  const before = split(base ?? "", { patterns, syntax });
  // What the base itself says in an odd way stays as it is, whole.
  if (before === undefined) return theirs === base ? { is: "same" } : { is: "base" };
  if (after === undefined) return { is: "base" };
  if (textOf(after.ours) === textOf(before.ours)) return { is: "same" };
  if (textOf(after.others) === textOf(before.others)) return { is: "base" };
  const kept = after.others.map(({ text }) => text).join("");
  const put = before.ours.map(({ text }) => text).join("");
  return { is: "text", text: put === "" ? kept : `${kept.trimEnd()}\n\n${put}` };
}

const textOf = (sections: readonly Section[]): string => sections.map(({ text }) => text.trim()).join("\n");

function split(
  text: string,
  { patterns, syntax }: { patterns: readonly string[]; syntax: Syntax },
): { ours: Section[]; others: Section[] } | undefined {
  const isOurs = (name: string): boolean => patterns.some((pattern) => means(pattern, name));
  const sections = syntax === "ini" ? iniSections(text) : tomlSections(text, patterns);
  if (sections === undefined) return undefined;
  return {
    ours: sections.filter(({ name }) => isOurs(name)),
    others: sections.filter(({ name }) => !isOurs(name)),
  };
}

function means(pattern: string, name: string): boolean {
  return pattern.endsWith("*")
    ? name.startsWith(pattern.slice(0, -1))
    : name === pattern || name.startsWith(`${pattern}.`);
}

/** Indented lines go on with a value, whatever they look like. */
function iniSections(text: string): Section[] {
  const sections: Section[] = [{ name: "", text: "" }];
  for (const line of linesOf(text)) {
    const header = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (header === undefined) (sections.at(-1) as Section).text += line;
    else sections.push({ name: header.trim(), text: line });
  }
  return sections;
}

interface Inside {
  /** The quotes of a text that goes over lines. */
  quotes: string | undefined;
  /** Open brackets. */
  depth: number;
}

/** undefined: something about a protected name is said in a way that is not followed here. */
function tomlSections(text: string, patterns: readonly string[]): Section[] | undefined {
  const sections: Section[] = [{ name: "", text: "" }];
  let inside: Inside = { quotes: undefined, depth: 0 };
  for (const line of linesOf(text)) {
    const section = sections.at(-1) as Section;
    if (inside.quotes !== undefined || inside.depth > 0) {
      section.text += line;
      inside = after(line, inside);
      continue;
    }
    const header = /^\s*\[{1,2}(.*?)\]{1,2}\s*(?:#.*)?$/s.exec(line)?.[1];
    if (header !== undefined) {
      const name = dotted(header);
      if (name === undefined) return undefined;
      sections.push({ name, text: line });
      continue;
    }
    section.text += line;
    if (isOdd(line, { section: section.name, patterns })) return undefined;
    inside = after(line, inside);
  }
  return sections;
}

/** A key of an unprotected section that means a protected one. */
function isOdd(line: string, { section, patterns }: { section: string; patterns: readonly string[] }): boolean {
  const [, key, value = ""] = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'=#])+?)\s*=\s*([^]*)$/.exec(line) ?? [];
  if (key === undefined) return false;
  const name = dotted(key);
  const isAbove = (path: string): boolean => patterns.some((pattern) => path === "" || pattern.startsWith(`${path}.`));
  if (name === undefined) return isAbove(section);
  if (patterns.some((pattern) => means(pattern, section))) return false;
  const path = section === "" ? name : `${section}.${name}`;
  if (patterns.some((pattern) => means(pattern, path))) return true;
  return /^[{[]/.test(value) && isAbove(path);
}

/** The parts of a name without quotes; undefined when it has escapes. */
function dotted(name: string): string | undefined {
  const parts = name.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^.\s"']+/g) ?? [];
  if (parts.some((part) => part.startsWith('"') && part.includes("\\"))) return undefined;
  return parts.map((part) => part.replace(/^(["'])(.*)\1$/s, "$2")).join(".");
}

function after(line: string, { quotes, depth }: Inside): Inside {
  let inside: Inside = { quotes, depth };
  for (let at = 0; at < line.length; at += 1) {
    const here = line.slice(at);
    if (inside.quotes !== undefined) {
      if (inside.quotes === '"""' && here.startsWith("\\")) at += 1;
      else if (here.startsWith(inside.quotes)) {
        at += 2;
        inside = { ...inside, quotes: undefined };
      }
      continue;
    }
    if (here.startsWith("#")) break;
    const long = /^("""|''')/.exec(here)?.[0];
    if (long !== undefined) {
      inside = { ...inside, quotes: long };
      at += 2;
      continue;
    }
    const short = /^("(?:[^"\\\n]|\\.)*"|'[^'\n]*')/.exec(here)?.[0];
    if (short !== undefined) at += short.length - 1;
    else if (/^[[{]/.test(here)) inside = { ...inside, depth: inside.depth + 1 };
    else if (/^[\]}]/.test(here)) inside = { ...inside, depth: Math.max(0, inside.depth - 1) };
  }
  return inside;
}

/** With their ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
