/** What the model is told of the conversation so far, from the transcript: whole and in a form the API accepts. Pure. */
import { callsIn, fieldText, type Block, type Said } from "./blocks.ts";
import type { Entry } from "./transcript.ts";

/** Said of a call whose result nobody has: it may have had an effect. */
const LOST = "[Tool call interrupted: its result was lost; look what it did before you go on]";

export function conversationOf(entries: readonly Entry[]): Said[] {
  let said: Said[] = [];
  for (const entry of entries) {
    switch (entry.is) {
      case "history":
        said = [...entry.messages];
        break;
      case "prompt":
        said = withPrompt(said, entry.content);
        break;
      case "user":
        said.push({ role: "user", content: entry.content });
        break;
      case "answer":
        if (entry.dropped !== true && entry.content.length > 0)
          said.push({ role: "assistant", content: entry.content, id: entry.id });
        break;
      case "request":
      case "broken":
      case "ran":
      case "end":
    }
  }
  return said;
}

export const withPrompt = (said: readonly Said[], content: readonly Block[]): Said[] => [
  ...closed(said),
  { role: "user", content },
];

/** Up to an answer, with it; undefined: it is not there. */
export function conversationUpTo(entries: readonly Entry[], id: string): Said[] | undefined {
  const said = conversationOf(entries);
  const at = said.findLastIndex((message) => message.id === id);
  return at < 0 ? undefined : said.slice(0, at + 1);
}

/** Before new words of the user: no call without a result. */
function closed(said: readonly Said[]): Said[] {
  const last = said.at(-1);
  const calls = last?.role === "assistant" ? callsIn(last.content) : [];
  if (calls.length === 0) return [...said];
  return [...said, { role: "user", content: calls.map((call) => resultBlock(call, LOST)) }];
}

/** As the API takes it: a call of the provider's own may wait for its result only where the turn is gone on with. */
export function sendable(said: readonly Said[]): Said[] {
  return said.flatMap((message, at) => {
    if (message.role !== "assistant" || said[at + 1]?.role !== "user") return [message];
    const answered = new Set(message.content.map((block) => fieldText(block, "tool_use_id")));
    const content = message.content.filter(
      (block) => block.type !== "server_tool_use" || answered.has(fieldText(block, "id")),
    );
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

export const resultBlock = (call: Block, text: string, ok = false): Block => ({
  type: "tool_result",
  tool_use_id: call["id"],
  content: text === "" ? "(no output)" : text,
  ...(ok ? {} : { is_error: true }),
});
