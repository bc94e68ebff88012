/** The last `limit` bytes of a stream, in a ring that is made once it is needed, and how many came before them. */

const FIRST_BYTES = 65_536;

export interface LastBytes {
  /** Copies; the bytes may be reused afterwards. */
  push(bytes: Uint8Array): void;
  readonly dropped: number;
  /** In order; views that the next push changes. */
  parts(): Uint8Array[];
}

export function makeLastBytes(limit: number): LastBytes {
  let ring = new Uint8Array(0);
  let start = 0;
  let size = 0;
  let dropped = 0;

  const parts = (): Uint8Array[] => {
    const end = start + size;
    if (end <= ring.length) return [ring.subarray(start, end)];
    return [ring.subarray(start), ring.subarray(0, end - ring.length)];
  };
  const grow = (needed: number): void => {
    const length = Math.min(limit, Math.max(needed, 2 * ring.length, FIRST_BYTES));
    if (length <= ring.length) return;
    const larger = new Uint8Array(length);
    let at = 0;
    for (const part of parts()) {
      larger.set(part, at);
      at += part.length;
    }
    ring = larger;
    start = 0;
  };
  const drop = (count: number): void => {
    start = ring.length === 0 ? 0 : (start + count) % ring.length;
    size -= count;
    dropped += count;
  };

  return {
    push(all) {
      const bytes = all.length > limit ? all.subarray(all.length - limit) : all;
      dropped += all.length - bytes.length;
      if (size + bytes.length > ring.length) grow(size + bytes.length);
      if (size + bytes.length > ring.length) drop(size + bytes.length - ring.length);
      if (bytes.length === 0) return;
      const at = (start + size) % ring.length;
      const first = Math.min(bytes.length, ring.length - at);
      ring.set(bytes.subarray(0, first), at);
      ring.set(bytes.subarray(first), 0);
      size += bytes.length;
    },
    get dropped() {
      return dropped;
    },
    parts,
  };
}
