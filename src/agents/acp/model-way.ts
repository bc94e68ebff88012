/**
 * One session's way to its models: through gateways where their address or key is known, so that the key stays with
 * pawl, every request is counted and what a model says no with is seen. Otherwise the agent goes by itself.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import { programAt } from "../../platform/fence.ts";
import { relayWords } from "../../platform/fence/relay.ts";
import type { Gateway, HeldRequest } from "../../platform/gateway.ts";
import type { OpenRequest } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { ledModels, type Led } from "./providers.ts";
import { requestWatch, type TurnWay } from "./request-watch.ts";
import type { Said } from "../refusal.ts";
import { socketName } from "../socket-name.ts";

/** Inside a fence the program may have another uid; the folder's parent is the user's alone. */
const SHARED = 0o666;
/** Of the loopback inside a fence, where nobody else listens. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;

export interface Reached {
  /** For the agent's environment, instead of the user's own. */
  variables: Record<string, string>;
  /** What stands before the program's own words to make the addresses reachable; [] where they are already. */
  before: string[];
  /** For an agent that can be told where its model is. */
  logins: { protocol: string; baseUrl: string; headers: Record<string, string> }[];
}

export interface ModelWay {
  /** Every request to the model passes here. */
  readonly isSeen: boolean;
  reached(): Promise<Reached>;
  /** Requests may leave, also before the first turn: an agent may try a model. */
  begin(turn: TurnWay): void;
  /** From here on requests wait: nobody has asked for anything. Resolves when those under way have ended, or after `ms`. */
  end(ms: number): Promise<void>;
  /** Requests may leave while this is done, though no turn runs. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Looks for this text in what leaves. */
  expect(directive: string, text: string): void;
  forget(directive: string): void;
  /** What the agent's own loop was last said no with since the turn began, if it was not answered after that. */
  refusal(): Said | undefined;
  /** The same, also where it was answered after that. */
  earlierRefusal(): Said | undefined;
  takeNotices(): string[];
  /** Words of the agent without its right to pass, which stands in the addresses that it has. */
  hide(text: string): string;
  /** Cuts what is under way; nothing reaches a model through it any more. Repeatable. */
  close(): Promise<void>;
}

/** Agents speak to their models over TCP only. */
const NO_RELAY = {
  message: "an ACP agent cannot reach its model through the fence: socat is missing",
  hint: "apt install socat; or --network open, or --fence none",
};

/** UsageError when the way through the fence cannot be made. */
export function refuseWithoutRelay(models: readonly Led[]): void {
  if (models.length > 0 && programAt("socat") === undefined)
    throw new UsageError(NO_RELAY.message, { hint: NO_RELAY.hint });
}

type Request = Pick<OpenRequest, "sockets" | "environment">;

export function modelWay({ sockets, environment }: Request): ModelWay {
  const models = ledModels(environment, { closed: sockets !== undefined });
  const watch = requestWatch();
  const passes: string[] = [];
  let failure: string | undefined;
  const opening = Promise.all(models.map((led, at) => openWay(led, at)));
  opening.catch(() => undefined);

  async function openWay(led: Led, at: number): Promise<{ led: Led; gateway: Gateway; name: string; port: number }> {
    const { openGateway } = await import("../../platform/gateway.ts");
    const name = socketName("acp");
    const gateway = await openGateway({
      upstream: led.upstream,
      paths: ["/"],
      listen: sockets === undefined ? { port: 0 } : { socket: join(sockets.folder, name), mode: SHARED },
      headers: (sent, token) => led.headers(sent, token),
      beforeForward: (request: HeldRequest) => watch.mayLeave(request),
      watch: (request: HeldRequest) => watch.leaves(request),
      onFailure(error) {
        failure = brief(error.message);
        watch.failed();
      },
      environment,
    });
    return { led, gateway, name, port: randomInt(FIRST_PORT, LAST_PORT) + at };
  }

  return {
    isSeen: models.length > 0,
    async reached() {
      const reached: Reached = { variables: {}, before: [], logins: [] };
      for (const { led, gateway, name, port } of await opening) {
        const { token } = gateway;
        if (!passes.includes(token)) passes.push(token);
        const baseUrl = sockets === undefined ? gateway.url : `http://127.0.0.1:${port}/${token}`;
        Object.assign(reached.variables, led.variables({ url: baseUrl, token }));
        reached.logins.push({ protocol: led.protocol, baseUrl, headers: led.shown(token) });
        if (sockets === undefined) continue;
        refuseWithoutRelay(models);
        const relay = {
          socat: programAt("socat") ?? "socat",
          perl: programAt("perl"),
          port,
          socket: join(sockets.at, name),
          hostPorts: [],
        };
        reached.before.push(...relayWords(relay));
      }
      return reached;
    },
    begin: (turn) => watch.begin(turn),
    end: (ms) => watch.end(ms),
    during: (work) => watch.during(work),
    expect: (directive, text) => watch.expect(directive, text),
    forget: (directive) => watch.forget(directive),
    refusal: () => watch.refusal(),
    earlierRefusal: () => watch.earlierRefusal(),
    takeNotices() {
      const failed = failure;
      failure = undefined;
      return failed === undefined ? [] : [`the connection to the model failed: ${failed}`];
    },
    hide: (text) => passes.reduce((hidden, token) => hidden.replaceAll(`/${token}`, "").replaceAll(token, "…"), text),
    async close() {
      const open = await opening.catch(() => []);
      await Promise.all(open.map(({ gateway }) => gateway.close()));
    },
  };
}
