/**
 * Between a client and the stand-in model: passes everything on until the plan for a request says otherwise. It breaks
 * answers at a chosen server-sent event, which the stand-in's own script cannot.
 */
import { createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type WireFault =
  /** The connection ends after so many events of the answer, and after that time: by then they have been read. */
  | { do: "cut"; afterEvents: number; lingerMs?: number }
  /** The API's own word for an error in mid-stream, after so many events. */
  | { do: "error-event"; afterEvents: number; type: "overloaded_error" | "api_error" }
  /** Instead of an answer, with what it asks to wait. */
  | { do: "status"; status: number; retryAfterMs?: number };

export interface FaultyWire {
  readonly url: string;
  /** Faults that were made. */
  readonly made: readonly WireFault[];
  /** Requests for an answer so far, titles and the like too. */
  requests(): number;
  /** Events of the answers that came through whole, in order. */
  readonly events: number[];
  close(): Promise<void>;
}

export interface ArmedFault {
  /** In the answer to which request since it was armed, counted from 0. */
  at: number;
  fault: WireFault;
}

/** Nothing is wrong with it until a fault is asked for. */
export interface ArmedWire extends FaultyWire {
  arm(fault?: ArmedFault): void;
  /** Requests since then that a fault could have met. */
  asked(): number;
}

export async function armedWire(to: string): Promise<ArmedWire> {
  let asked = 0;
  let armed: ArmedFault | undefined;
  const wire = await faultyWire(to, () => {
    asked += 1;
    return armed?.at === asked - 1 ? armed.fault : undefined;
  });
  return {
    ...wire,
    asked: () => asked,
    arm(fault) {
      asked = 0;
      armed = fault;
    },
  };
}

const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/** `plan` is asked for every request for an answer of the model, counted from 0; undefined: nothing is wrong with it. */
export async function faultyWire(to: string, plan: (n: number) => WireFault | undefined): Promise<FaultyWire> {
  const target = new URL(to);
  const made: WireFault[] = [];
  const events: number[] = [];
  let asked = 0;
  let all = 0;
  const server = createServer((request, response) => {
    const passOn = (body: Buffer): unknown => {
      const isOpenai = request.url?.startsWith("/v1/responses") === true;
      const isAnthropic = /^\/v1\/messages(\?|$)/.test(request.url ?? "");
      if (isOpenai || isAnthropic) all += 1;
      const counts = isOpenai || (isAnthropic && body.includes('"tools":[{'));
      const fault = counts ? plan(asked) : undefined;
      if (counts) asked += 1;
      if (fault !== undefined) made.push(fault);
      if (fault?.do === "status") return refuse(response, fault);
      const { method, headers, url } = request;
      const { hostname, port } = target;
      const onward = send({ hostname, port, method, path: url, headers: { ...headers, host: target.host } });
      onward.on("error", () => response.destroy());
      // Who gives up waiting gives up at the model.
      response.once("close", () => response.writableFinished || onward.destroy());
      onward.on("response", (answer) => {
        const whole = (n: number): unknown => counts && events.push(n);
        pass(answer, { response, fault, whole }).catch(() => response.destroy());
      });
      return onward.end(body);
    };
    bodyOf(request).then(passOn, () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made,
    events,
    requests: () => all,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT_BYTES) throw new Error("a body beyond the limit");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuse(response: ServerResponse, { status, retryAfterMs }: Extract<WireFault, { do: "status" }>): void {
  const type = status === 529 ? "overloaded_error" : status === 429 ? "rate_limit_error" : "api_error";
  const body = JSON.stringify({ type: "error", error: { type, message: `injected ${status}` } });
  const wait = retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) };
  response.writeHead(status, { "content-type": "application/json", ...wait }).end(body);
}

interface Passing {
  response: ServerResponse;
  fault: WireFault | undefined;
  whole: (events: number) => unknown;
}

async function pass(answer: IncomingMessage, { response, fault, whole }: Passing): Promise<void> {
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  const left = fault === undefined || fault.do === "status" ? Infinity : fault.afterEvents;
  let text = "";
  let seen = 0;
  for await (const chunk of answer.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      if (seen >= left) return broken(response, fault);
      response.write(text.slice(0, end + 2));
      text = text.slice(end + 2);
      seen += 1;
    }
  }
  if (seen >= left) return broken(response, fault);
  whole(seen);
  response.end(text);
}

/** What came before is on the wire when the connection ends. */
function broken(response: ServerResponse, fault: WireFault | undefined): void {
  if (fault?.do !== "error-event") {
    const lingerMs = fault?.do === "cut" ? (fault.lingerMs ?? 0) : 0;
    response.write("", () => setTimeout(() => setImmediate(() => response.socket?.destroy()), lingerMs));
    return;
  }
  const data = { type: "error", error: { type: fault.type, message: "injected" } };
  response.end(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
}
