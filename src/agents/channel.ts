/** A queue that one consumer iterates while others push: the open input of a streaming session. */
export interface Channel<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** What was pushed is still delivered. */
  end(): void;
}

export function channel<T>(): Channel<T> {
  const items: T[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  const signal = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    push(item) {
      if (ended) return;
      items.push(item);
      signal();
    },
    end() {
      ended = true;
      signal();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) yield items.shift() as T;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
