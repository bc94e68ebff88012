/**
 * What the program says before the SDK is there to hear it: held, in order, until it is. The answer to the request that
 * was made ahead of the SDK gets the name of the SDK's own.
 */
import { Transform, type TransformCallback } from "node:stream";

/** Some twenty times what Claude Code says before its first model request. More waits in the pipe. */
const MAX_HELD_BYTES = 512 * 1024;
const NEWLINE = 0x0a;

/** How each line begins that says no more than that the program starts. */
const OF_A_START = [
  '{"type":"control_response"',
  '{"type":"system","subtype":"session_state_changed"',
  '{"type":"system","subtype":"init"',
  '{"type":"system","subtype":"status"',
  '{"type":"command_lifecycle"',
].map((text) => Buffer.from(text));
/** In the last of them: it asks its model. */
const REQUEST = '"status":"requesting"';

export interface HeldOutput {
  readonly stream: Transform;
  /** Somebody reads now. */
  release(rename: { from: string; to: string }): void;
}

/** `onRequest`: it asks its model; `onMore`: it says something that has to be heard now. Each once or more. */
export function heldOutput({ onRequest, onMore }: Record<"onRequest" | "onMore", () => void>): HeldOutput {
  let held: Buffer[] | undefined = [];
  let bytes = 0;
  let rename: { from: string; to: string } | undefined;
  /** Begun and not ended, of what may still have to be renamed. */
  let begun: Buffer = Buffer.alloc(0);
  let resume: TransformCallback | undefined;

  function pass(chunk: Buffer): void {
    if (rename === undefined) return void stream.push(chunk);
    begun = Buffer.concat([begun, chunk]);
    for (let end = begun.indexOf(NEWLINE); end >= 0; end = begun.indexOf(NEWLINE)) {
      const line = begun.subarray(0, end + 1);
      begun = begun.subarray(end + 1);
      const isIt = rename !== undefined && line.includes(rename.from);
      stream.push(isIt ? line.toString("utf8").replaceAll(rename?.from ?? "", rename?.to ?? "") : line);
      if (isIt) rename = undefined;
    }
    if (rename !== undefined || begun.length === 0) return;
    stream.push(begun);
    begun = Buffer.alloc(0);
  }

  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (held === undefined) {
        pass(chunk);
        return done();
      }
      held.push(chunk);
      bytes += chunk.length;
      const isFull = bytes > MAX_HELD_BYTES;
      const said = Buffer.concat(held);
      if (isFull || !isOfAStart(said)) onMore();
      else if (said.includes(REQUEST)) onRequest();
      if (isFull) resume = done;
      else done();
    },
    flush(done) {
      if (held === undefined) {
        if (begun.length > 0) stream.push(begun);
        return done();
      }
      onMore();
      resume = done;
    },
  });
  return {
    stream,
    release(to) {
      if (held === undefined) return;
      const waiting = held;
      held = undefined;
      rename = to;
      for (const chunk of waiting) pass(chunk);
      resume?.();
    },
  };
}

function isOfAStart(said: Buffer): boolean {
  for (let from = 0; from < said.length;) {
    const end = said.indexOf(NEWLINE, from);
    const line = said.subarray(from, end < 0 ? said.length : end);
    if (!OF_A_START.some((beginning) => line.subarray(0, beginning.length).equals(beginning.subarray(0, line.length))))
      return false;
    from += line.length + 1;
  }
  return true;
}
