/** What a turn of opencode waits for, and how the server's stream is held while it does not read. */
import { wakes, type Wakes } from "../wakes.ts";
import type { Json } from "./json.ts";

/** Events that may wait for the reader; then the server's stream is not read on. */
const MAX_WAITING = 200;

export type OpencodeWake =
  | { is: "event"; type: string; properties: Json }
  /** A prompt was answered: its turn is over. `data`: the last message and its parts. */
  | { is: "answered"; data: unknown }
  | { is: "refused"; of: "prompt" | "say"; error: Json };

export interface Inbox extends Wakes<OpencodeWake> {
  /** Resolves when there is room for another event. */
  room(): Promise<void>;
}

export function inboxOf(): Inbox {
  let waiting = 0;
  let roomy: (() => void) | undefined;
  const inbox = wakes<OpencodeWake>((length) => {
    waiting = length;
    if (length >= MAX_WAITING) return;
    roomy?.();
    roomy = undefined;
  });
  return {
    ...inbox,
    room: () =>
      waiting < MAX_WAITING
        ? Promise.resolve()
        : new Promise((resolve) => {
            roomy = resolve;
          }),
  };
}
