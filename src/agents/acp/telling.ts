/** What leaves a session: with everything that people should know before a turn ends, without the agent's right to pass. */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent } from "../../ports.ts";

type Hide = (text: string) => string;

/** What is known of the connection and the limits is told before the turn ends. */
export async function* told(
  events: AsyncGenerator<AgentEvent, boolean>,
  { notices, hide }: { notices: () => string[]; hide: Hide },
): AsyncGenerator<AgentEvent, boolean> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return next.value;
      if (next.value.type === "turn-end") for (const text of notices()) yield { type: "notice", text: hide(text) };
      yield hidden(next.value, hide);
    }
  } finally {
    await events.return(false);
  }
}

export function hidden(event: AgentEvent, hide: Hide): AgentEvent {
  switch (event.type) {
    case "text":
    case "thinking":
    case "notice":
      return { ...event, text: hide(event.text) };
    case "tool-end":
      return { ...event, output: hide(event.output) };
    case "turn-end":
      return { ...event, outcome: plain(event.outcome, hide), finalText: hide(event.finalText) };
    default:
      return event;
  }
}

function plain(outcome: TurnOutcome, hide: Hide): TurnOutcome {
  switch (outcome.is) {
    case "cut":
      return { ...outcome, reason: hide(outcome.reason) };
    case "failed":
    case "limited":
      return { ...outcome, message: hide(outcome.message) };
    default:
      return outcome;
  }
}
