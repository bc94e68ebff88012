/** A picture taken apart by the rules of its format, as far as the set's own go: one grey byte a pixel, no filter. */
import { crc32, inflateSync } from "node:zlib";

export interface Picture {
  width: number;
  height: number;
  /** Pixels with the value zero. */
  black: number;
}

const SIGNATURE = "89504e470d0a1a0a";

/** Throws where it is none. */
export function readPng(bytes: Buffer): Picture {
  if (bytes.toString("hex", 0, 8) !== SIGNATURE) throw new Error("not the beginning of a PNG");
  const parts = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length;) {
    const size = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 4, at + 8 + size);
    if (crc32(body) !== bytes.readUInt32BE(at + 8 + size)) throw new Error("a sum is wrong");
    parts.set(body.toString("latin1", 0, 4), body.subarray(4));
    at += size + 12;
  }
  const head = parts.get("IHDR") ?? Buffer.alloc(13);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const data = inflateSync(parts.get("IDAT") ?? Buffer.alloc(0));
  if (!parts.has("IEND") || data.length !== (width + 1) * height) throw new Error("not all of its pixels are there");
  const pixels = data.filter((_, at) => at % (width + 1) !== 0);
  return { width, height, black: pixels.filter((byte) => byte === 0).length };
}
