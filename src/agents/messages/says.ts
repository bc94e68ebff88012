/** What people say into a running turn: it goes with the next request, and there is one as long as something waits. */
import { textBlock, type Block } from "./blocks.ts";

export interface Says {
  /** False: the turn will make no further request. */
  add(directive: string, text: string): boolean;
  /** As blocks for the next request; told as delivered once that is being answered. */
  take(): Block[];
  /** Directives in requests that the model has begun to answer. */
  delivered(): string[];
  /** Nothing more is taken. */
  close(): void;
}

export function openSays(): Says {
  let queue: { directive: string; text: string }[] = [];
  let sent: string[] = [];
  let open = true;
  return {
    add(directive, text) {
      if (open) queue.push({ directive, text });
      return open;
    },
    take() {
      const taken = queue;
      queue = [];
      sent.push(...taken.map(({ directive }) => directive));
      return taken.map(({ text }) => textBlock(`A person says, while you work:\n${text}`));
    },
    delivered() {
      const told = sent;
      sent = [];
      return told;
    },
    close: () => void (open = false),
  };
}
