/**
 * The completion promise. It is a claim only as the whole last line of the agent's final text: never from tools, code
 * blocks, quotes or the echo of a prompt.
 */
export const promiseTag = (promise: string): string => `<promise>${promise}</promise>`;

export function hasClaim(finalText: string, promise: string): boolean {
  const lines = finalText.trimEnd().split("\n");
  const last = lines.at(-1)?.trim() ?? "";
  return last === promiseTag(promise) && !insideFence(lines);
}

/** Whether the last line stands inside an unclosed code fence. */
function insideFence(lines: readonly string[]): boolean {
  let fence: string | undefined;
  for (const line of lines) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark === undefined) continue;
    if (fence === undefined) fence = mark;
    else if (mark.startsWith(fence)) fence = undefined;
  }
  return fence !== undefined;
}
