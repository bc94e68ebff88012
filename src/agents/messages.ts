/** The bare Claude Messages API, with pawl's own turn loop: no program beside pawl, the tools alone inside the fence. */
import type { Agent } from "../ports.ts";
import { openExtras } from "./messages/extras.ts";
import { inspectTurn } from "./messages/inspect.ts";
import { messagesSession } from "./messages/session.ts";

interface MessagesSetup {
  /** The user's own: key, endpoint and proxies are taken from it. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export function messages({ userEnvironment }: MessagesSetup): Agent {
  const extras = openExtras();
  return {
    name: "messages",
    gaps: [],
    open: (request) => Promise.resolve(messagesSession(request, userEnvironment, extras)),
    inspect: inspectTurn,
  };
}
