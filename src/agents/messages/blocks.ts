/** The conversation as the Messages API has it, as far as it is read here. */

export interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Said {
  role: "user" | "assistant";
  content: readonly Block[];
  /** Of an answer. */
  id?: string;
}

export const textBlock = (text: string): Block => ({ type: "text", text });

export function fieldText(block: Block, field: string): string {
  const value = block[field];
  return typeof value === "string" ? value : "";
}

/** What the user sees of an answer at its end: the texts after everything else in it. */
export function lastText(content: readonly Block[]): string {
  const after = content.findLastIndex(({ type }) => type !== "text") + 1;
  return content
    .slice(after)
    .map((block) => fieldText(block, "text"))
    .join("");
}

/** `text` cut at the offsets, so that what stands before each can be kept in the cache. */
export function piecesOf(text: string, breaks: readonly number[] = []): Block[] {
  const cuts = [0, ...breaks, text.length].filter((at) => at >= 0 && at <= text.length).toSorted((a, b) => a - b);
  return cuts
    .slice(1)
    .map((to, n) => text.slice(cuts[n], to))
    .filter((piece) => piece !== "")
    .map(textBlock);
}

export const callsIn = (content: readonly Block[]): Block[] => content.filter(({ type }) => type === "tool_use");
