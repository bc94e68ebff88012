/** Blobs in memory, for suites about what is written rather than where. */
import { createHash } from "node:crypto";
import type { Blobs } from "../../src/ports.ts";

export function memoryBlobs(): Blobs {
  const kept = new Map<string, Uint8Array>();
  const keep = (content: Uint8Array) => {
    const hash = createHash("sha256").update(content).digest("hex");
    kept.set(hash, content);
    return { hash, bytes: content.length };
  };
  return {
    put: async (content) => keep(Buffer.from(content)),
    get: async (hash) => kept.get(hash),
    writer(maxBytes) {
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      let dropped = 0;
      return {
        write(chunk) {
          const room = chunk.subarray(0, Math.max(0, maxBytes - bytes));
          if (room.length > 0) chunks.push(Buffer.from(room));
          bytes += room.length;
          dropped += chunk.length - room.length;
        },
        end: async () => ({ ...keep(Buffer.concat(chunks)), dropped }),
      };
    },
  };
}
