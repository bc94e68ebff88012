/** Any agent that speaks the Agent Client Protocol: one process per conversation, spoken to over its standard streams. */
import type { Agent, Gap } from "../ports.ts";
import { inspectTurn } from "./acp/record.ts";
import { loadSdk } from "./acp/sdk.ts";
import { acpSession } from "./acp/session.ts";

/** Of every ACP agent; what one of them lacks beyond this is told by a notice of the turn that needs it. */
export const ACP_GAPS: readonly Gap[] = [
  {
    cannot: "switch-model-now",
    reason: "the protocol sets a model for the prompts to come; a running turn keeps its own",
  },
  { cannot: "rewind", reason: "the protocol goes on with a conversation only at its end" },
  { cannot: "done-call", reason: "the protocol lets a client offer no tools; the promise in the final text counts" },
  { cannot: "report-cost", reason: "few agents tell a price; pawl takes the list price of what it sees or is told" },
];

interface AcpSetup {
  /** `acp:` and the agent's command line. */
  name: string;
}

export function acp({ name }: AcpSetup): Agent {
  return {
    name,
    gaps: ACP_GAPS,
    open(request) {
      // Loading takes longer than most of what happens before the first turn; a failure shows there.
      loadSdk().catch(() => undefined);
      return Promise.resolve(acpSession(request));
    },
    inspect: inspectTurn,
  };
}
