/** What is known of a turn from what its program printed, and what every way of reading it has to give. */
import type { AgentEvent } from "../../ports.ts";
import type { RefusalKind } from "../outcome.ts";

export type Line = { is: "line"; text: string } | { is: "too-long"; bytes: number };

export interface View {
  /** The program's name for the conversation. */
  session: string | undefined;
  model: string | undefined;
  messageId: string | undefined;
  finalText: string;
  error: PrintedError | undefined;
  /** The line that ends a turn was seen. */
  ended: boolean;
  /** The program waits until then before it tries again, monotonic ms. */
  retryUntil: number;
}

export interface PrintedError {
  kind: RefusalKind | undefined;
  /** undefined: it names none. */
  status: number | undefined;
  text: string;
  resetAt: number | undefined;
}

export interface OutputReader {
  readonly view: Readonly<View>;
  take(line: Line): AgentEvent[];
  /** Of what was held back, at the end of the output. */
  flush(): AgentEvent[];
}

export const newView = (): View => ({
  session: undefined,
  model: undefined,
  messageId: undefined,
  finalText: "",
  error: undefined,
  ended: false,
  retryUntil: 0,
});

/** Of one text, one tool's output: the whole is in the program's own record. */
const MAX_EVENT_CHARS = 16_384;
/** Of the agent's last words. */
export const MAX_FINAL_CHARS = 256 * 1024;

export function shortened(text: string): string {
  return text.length <= MAX_EVENT_CHARS ? text : `${text.slice(0, MAX_EVENT_CHARS - 1)}…`;
}

export const tooLong = (bytes: number): AgentEvent => ({
  type: "notice",
  text: `a line of ${bytes} bytes in the agent's output was passed over`,
});
