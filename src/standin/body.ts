/** Reads a request's body, bounded, with the encodings clients use. */
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { lookUp } from "../platform/look-up.ts";

const MAX_BODY_BYTES = 64 * 1024 * 1024;

type Unread = { is: "too-large" } | { is: "unreadable" } | { is: "gone" };
export type Body = { is: "text"; text: string } | Unread;

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

export async function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Body> {
  const body = await readBytes(request, maxBytes);
  return body.is === "bytes" ? { is: "text", text: body.bytes.toString("utf8") } : body;
}

export async function readBytes(
  request: IncomingMessage,
  maxBytes = MAX_BODY_BYTES,
): Promise<{ is: "bytes"; bytes: Buffer<ArrayBuffer> } | Unread> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Ending the loop must not end the connection: the client is to read the refusal.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        request.resume();
        return { is: "too-large" };
      }
      chunks.push(chunk);
    }
  } catch {
    return { is: "gone" };
  }
  const encoding = request.headers["content-encoding"] ?? "identity";
  const whole = Buffer.concat(chunks);
  if (encoding === "identity") return { is: "bytes", bytes: whole };
  const decode = lookUp(DECODERS, encoding);
  if (decode === undefined) return { is: "unreadable" };
  try {
    return { is: "bytes", bytes: Buffer.from(await decode(whole, { maxOutputLength: maxBytes })) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
      ? { is: "too-large" }
      : { is: "unreadable" };
  }
}
