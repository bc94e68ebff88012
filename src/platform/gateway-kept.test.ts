/** Connections to the model that are kept, and what the gateway says of a request that did not get there. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { CLOSED_PORT } from "../../test/support/closed-port.ts";
import { waitFor } from "../../test/support/temp.ts";
import { openGateway, type Gateway, type GatewayOptions, type RequestEnd } from "./gateway.ts";

/** A model, with what it has read whole; `more` may keep a request from an answer. */
async function model(more: (request: IncomingMessage) => Promise<boolean> | boolean = () => true) {
  const sockets: Socket[] = [];
  const read: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!(await more(request))) return;
    read.push((await buffer(request)).toString("utf8").slice(0, 10));
    response.end("answer");
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.on("connection", (socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, read };
}

async function gatewayTo(upstream: string, beforeForward: GatewayOptions["beforeForward"] = () => Promise.resolve()) {
  const ends: RequestEnd[] = [];
  const failures: string[] = [];
  const gateway = await openGateway({
    upstream,
    paths: ["/"],
    listen: { port: 0 },
    headers: (sent) => sent,
    beforeForward,
    onFailure: (error) => failures.push(error.message),
    watch: () => ({ answer: () => undefined, data: () => undefined, end: (how) => ends.push(how) }),
    environment: {},
  });
  onTestFinished(() => gateway.close());
  return Object.assign(gateway, { ends, failures });
}

const ask = async (gateway: Gateway, body: string | Buffer, signal?: AbortSignal): Promise<string> =>
  await (await fetch(`${gateway.url}/v1`, { method: "POST", body, signal: signal ?? null })).text();

it("does not lose a request in a kept connection that the model has closed", async () => {
  const { url, sockets, read } = await model();
  // As late as can be: the end of it is on the way when the request is about to leave.
  const gateway = await gatewayTo(url, () => {
    for (const socket of sockets) socket.destroy();
    return Promise.resolve();
  });
  for (const body of ["one", "two", "three"]) expect(await ask(gateway, body)).toBe("answer");
  expect([read, gateway.ends, gateway.failures]).toEqual([["one", "two", "three"], ["whole", "whole", "whole"], []]);
});

it("waits for a model that thinks for longer than a connection may lie idle", async () => {
  const { url, read } = await model(() => sleep(5_000, true));
  const gateway = await gatewayTo(url);
  const answers = await Promise.all([ask(gateway, "one"), ask(gateway, "two")]);
  expect([answers, read.toSorted(), gateway.ends]).toEqual([
    ["answer", "answer"],
    ["one", "two"],
    ["whole", "whole"],
  ]);
});

it("does not ask again by itself where the model may have read the request", async () => {
  let asked = 0;
  const { url } = await model(async (request) => {
    asked += 1;
    if (asked === 1) return true;
    await buffer(request);
    request.socket.resetAndDestroy();
    return false;
  });
  const gateway = await gatewayTo(url);
  await ask(gateway, "one");
  for (const body of ["two", "three"]) await expect(ask(gateway, body)).rejects.toThrow("fetch failed");
  expect([asked, gateway.ends]).toEqual([3, ["whole", "broken", "broken"]]);
});

it("tells a request that never left whole from one that broke off: without a model, and given up half way", async () => {
  const nowhere = await gatewayTo(`http://127.0.0.1:${CLOSED_PORT}`);
  await expect(ask(nowhere, "one")).rejects.toThrow("fetch failed");
  expect(nowhere.ends).toEqual(["unsent"]);

  const begun = Promise.withResolvers<void>();
  const { url, read } = await model(() => {
    begun.resolve();
    return false;
  });
  const gateway = await gatewayTo(url);
  const controller = new AbortController();
  // More than the way to a model that does not read can hold.
  const answer = ask(gateway, Buffer.alloc(40 * 1024 * 1024), controller.signal);
  await begun.promise;
  controller.abort();
  await expect(answer).rejects.toThrow("aborted");
  await waitFor(() => gateway.ends.length > 0, { what: "the end of the request" });
  expect([gateway.ends, read, gateway.failures]).toEqual([["unsent"], [], []]);
});
