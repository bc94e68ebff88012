/** Puts a plan on the wire: at once, slowly, in part, or not at all. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Plan } from "./plan.ts";
import { PARTIAL_SHARE } from "./plan.ts";
import type { Protocol, Refusal } from "./protocol.ts";
import { newId } from "./protocol.ts";
import type { StandinRequest } from "./request.ts";

interface Pace {
  delayMs: number;
  chunkMs: number;
  headers: Readonly<Record<string, string>>;
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

export function refuse(response: ServerResponse, protocol: Protocol, refusal: Refusal): void {
  const { headers, body } = protocol.refusal(refusal);
  sendJson(response, body, { status: refusal.status, headers });
}

interface Wire {
  response: ServerResponse;
  protocol: Protocol;
  request: StandinRequest;
  pace: Pace;
  /** Aborted when the client leaves or the server closes. */
  gone: AbortSignal;
}

/** Resolves when the client has what the plan gives it, or has left. Never rejects. */
export async function perform(plan: Plan, wire: Wire): Promise<void> {
  const { response, protocol, pace, gone } = wire;
  if (!(await waited(pace.delayMs, gone))) return;
  switch (plan.do) {
    case "hang":
      return;
    case "cut":
      response.socket?.destroy();
      return;
    case "refuse": {
      const { headers, body } = protocol.refusal(plan.refusal);
      sendJson(response, body, { status: plan.refusal.status, headers: { ...headers, ...pace.headers } });
      return;
    }
    case "answer":
      await answer(plan, wire);
  }
}

async function answer(plan: Plan & { do: "answer" }, { response, protocol, request, pace, gone }: Wire): Promise<void> {
  const headers = { "request-id": newId("req_"), "x-request-id": newId("req_"), ...pace.headers };
  const whole = request.stream
    ? protocol.events(plan.answer, request)
    : [JSON.stringify(protocol.json(plan.answer, request))];
  response.writeHead(200, {
    "content-type": request.stream ? "text/event-stream; charset=utf-8" : "application/json",
    ...(request.stream ? { "cache-control": "no-cache" } : {}),
    ...headers,
  });
  for (const chunk of plan.ending === "whole" ? whole : partOf(whole, request.stream)) {
    if (gone.aborted || !(await written(response, chunk, gone))) return;
    if (request.stream && !(await waited(pace.chunkMs, gone))) return;
  }
  if (plan.ending === "whole") response.end();
  // Waits for the bytes to leave, so that the client has seen the first half when the connection ends.
  if (plan.ending === "cut") response.write("", () => setImmediate(() => response.socket?.destroy()));
}

/** At least the opening of the stream, never its end. */
function partOf(whole: readonly string[], stream: boolean): string[] {
  if (stream) return whole.slice(0, Math.max(1, Math.floor(whole.length * PARTIAL_SHARE)));
  return whole.map((text) => text.slice(0, Math.floor(text.length * PARTIAL_SHARE)));
}

async function waited(ms: number, gone: AbortSignal): Promise<boolean> {
  if (ms > 0) await sleep(ms, undefined, { signal: gone }).catch(() => undefined);
  return !gone.aborted;
}

/** False when the client left before there was room for the chunk. */
async function written(response: ServerResponse, chunk: string, gone: AbortSignal): Promise<boolean> {
  if (response.write(chunk)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      gone.removeEventListener("abort", done);
      resolve();
    };
    response.once("drain", done);
    gone.addEventListener("abort", done, { once: true });
  });
  return !gone.aborted;
}
