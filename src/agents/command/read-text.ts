/** A program that prints words for people: all of it is what the agent says, and nothing else can be learned from it. */
import type { AgentEvent } from "../../ports.ts";
import { newView, MAX_FINAL_CHARS, shortened, tooLong, type OutputReader } from "./view.ts";

/** Told in blocks between empty lines, or of this size. */
const BLOCK_CHARS = 8_192;
/** Of one turn that is told while it happens; its end is kept in any case. */
const MAX_TOLD_CHARS = 4 * 1024 * 1024;
const ESCAPE = "\u001B";
/** Colours and cursor movements of terminals. */
const TERMINAL = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007]*\\u0007|[@-Z\\\\-_])`, "g");

export function textReader(): OutputReader {
  let block = "";
  let all = "";
  const view = {
    ...newView(),
    // Of many lines only the end is asked for.
    get finalText(): string {
      return all.slice(-MAX_FINAL_CHARS).trim();
    },
  };
  let told = 0;

  const flush = (): AgentEvent[] => {
    const text = block.trim();
    block = "";
    if (text === "" || told > MAX_TOLD_CHARS) return [];
    told += text.length;
    const isLast = told > MAX_TOLD_CHARS;
    const said: AgentEvent = { type: "text", text: shortened(text) };
    return isLast ? [said, { type: "notice", text: "the agent prints too much; the rest is not shown" }] : [said];
  };

  return {
    view,
    take(line) {
      if (line.is === "too-long") return [tooLong(line.bytes)];
      const text = line.text.replaceAll(TERMINAL, "").replaceAll("\r", "");
      all += `${text}\n`;
      if (all.length > 2 * MAX_FINAL_CHARS) all = all.slice(-MAX_FINAL_CHARS);
      block += `${text}\n`;
      return text.trim() === "" || block.length > BLOCK_CHARS ? flush() : [];
    },
    flush,
  };
}
