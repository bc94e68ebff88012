/** What leaves a session: without the agent's right to pass. */
import type { AgentEvent } from "../../ports.ts";
import { hiddenIn } from "../ending.ts";

export function hidden(event: AgentEvent, { hide }: { hide: (text: string) => string }): AgentEvent {
  switch (event.type) {
    case "text":
    case "thinking":
    case "notice":
      return { ...event, text: hide(event.text) };
    case "tool-end":
      return { ...event, output: hide(event.output) };
    case "turn-end":
      return { ...event, outcome: hiddenIn(event.outcome, hide), finalText: hide(event.finalText) };
    default:
      return event;
  }
}
