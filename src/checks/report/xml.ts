/**
 * As much of XML as test reports are made of, read in one pass: tags, attributes, text. Nothing is ever expanded but
 * the five named entities and character numbers; what is broken ends the reading, and what came before it counts.
 */

export interface XmlReader {
  open(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  text(text: string): void;
  close(name: string): void;
}

const MAX_DEPTH = 200;
const MAX_ATTRIBUTES = 50;
const MAX_VALUE_CHARS = 64_000;
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** False when it ended before its end. Never throws for its input. */
export function readXml(source: string, reader: XmlReader): boolean {
  const open: string[] = [];
  let at = 0;
  while (at < source.length) {
    const start = source.indexOf("<", at);
    if (start === -1) break;
    if (start > at && open.length > 0) reader.text(unescaped(source.slice(at, start)));
    const skipped = skip(source, start);
    if (skipped !== undefined) {
      if (skipped.end === -1) return false;
      if (skipped.text !== undefined) reader.text(skipped.text);
      at = skipped.end;
      continue;
    }
    const end = tagEnd(source, start);
    if (end === -1) return false;
    const tag = source.slice(start + 1, end);
    at = end + 1;
    if (tag.startsWith("/")) {
      const name = open.pop();
      if (name === undefined || name !== tag.slice(1).trim()) return false;
      reader.close(name);
      continue;
    }
    const name = /^[^\s/>]+/.exec(tag)?.[0];
    if (name === undefined || open.length >= MAX_DEPTH) return false;
    reader.open(name, attributesOf(tag.slice(name.length)), open.length);
    if (tag.endsWith("/")) reader.close(name);
    else open.push(name);
  }
  return open.length === 0;
}

/** Comments, processing instructions, doctypes (which may hold entities: nobody reads them) and CDATA. */
function skip(source: string, start: number): { end: number; text?: string } | undefined {
  const after = (mark: string, from: number): number => {
    const found = source.indexOf(mark, from);
    return found === -1 ? -1 : found + mark.length;
  };
  if (source.startsWith("<!--", start)) return { end: after("-->", start + 4) };
  if (source.startsWith("<![CDATA[", start)) {
    const end = after("]]>", start + 9);
    return end === -1
      ? { end }
      : { end, text: source.slice(start + 9, Math.min(end - 3, start + 9 + MAX_VALUE_CHARS)) };
  }
  if (source.startsWith("<?", start)) return { end: after("?>", start + 2) };
  if (!source.startsWith("<!", start)) return undefined;
  const end = source.indexOf(">", start);
  const inner = end === -1 ? -1 : source.slice(start, end).indexOf("[");
  return { end: inner === -1 ? (end === -1 ? -1 : end + 1) : after("]>", start + inner) };
}

/** A `>` inside quotes is none. */
function tagEnd(source: string, start: number): number {
  let quote = "";
  for (let at = start + 1; at < source.length; at += 1) {
    const char = source[at] as string;
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === ">") return at;
    else if (char === "<") return -1;
  }
  return -1;
}

/** Word by word: no pattern may look at a long tag twice. What is wrong ends it. */
function attributesOf(text: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  const word = /\s*([^\s=/"'<>]+)\s*=\s*(["'])/y;
  for (let n = 0; n < MAX_ATTRIBUTES; n += 1) {
    const [, name = "", quote = ""] = word.exec(text) ?? [];
    const end = name === "" ? -1 : text.indexOf(quote, word.lastIndex);
    if (end === -1) break;
    found[name] = unescaped(text.slice(word.lastIndex, end));
    word.lastIndex = end + 1;
  }
  return found;
}

const unescaped = (text: string): string =>
  text
    .slice(0, MAX_VALUE_CHARS)
    .replaceAll(
      /&(?:#(?<ten>\d{1,7})|#x(?<hex>[0-9a-f]{1,6})|(?<name>lt|gt|amp|quot|apos));/gi,
      (all, ten, hex, name) => {
        if (typeof name === "string") return NAMED[name.toLowerCase()] ?? all;
        const code = typeof ten === "string" ? Number(ten) : Number.parseInt(String(hex), 16);
        return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
      },
    );
