/**
 * A program's way to its model where it can be told an address: through the gateway, which holds the key, counts the
 * requests and sees what the model says no with, whatever the program makes of that.
 */
import { randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import { programAt } from "../../platform/fence.ts";
import { relayWords } from "../../platform/fence/relay.ts";
import type { Gateway, RequestWatcher } from "../../platform/gateway.ts";
import type { OpenRequest } from "../../ports.ts";
import type { CommandGateway } from "../../spec/command-agent.ts";
import { FREE_PATH } from "../acp/request-watch.ts";
import { usageStream, type UsageStream } from "../acp/usage-stream.ts";
import { brief } from "../outcome.ts";
import type { Said } from "../refusal.ts";
import type { Tokens } from "./meter.ts";
import { refusalOf } from "./refusal.ts";
import { socketName } from "../socket-name.ts";
import { streamEnd } from "../stream-end.ts";

/** Inside a fence the program may have another uid; the folder's parent is the user's alone. */
const SHARED = 0o666;
/** Of the loopback inside a fence, where nobody else listens. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;
const RESPONSES = "/responses";
const FIRST_REFUSAL = 400;

type Environment = Readonly<Record<string, string | undefined>>;

export interface Reached {
  /** Variables that lead the program to its model. */
  environment: Record<string, string>;
  url: string;
  token: string;
  /** What stands before the program's own words; [] where nothing is needed. */
  before: string[];
}

/** Of one turn. */
interface Counting {
  /** The request after so many is held until it is given up. */
  limit: number | undefined;
  /** A request leaves now. */
  onRequest: () => void;
  /** One of them never left whole. */
  onUnsent: () => void;
  /** What one of them cost so far, as its model says, in a protocol that is known here. */
  onSpent: (request: string, model: string, tokens: Tokens) => void;
  wake: () => void;
}

export interface ModelWay {
  /** undefined: the program goes to its model by itself. */
  reached(): Promise<Reached | undefined>;
  /** A turn begins now. */
  begin(counting: Counting): void;
  /** Whether requests can be counted at all. */
  readonly counts: boolean;
  /** That left since the turn began. */
  requests(): number;
  answers(): number;
  isOverLimit(): boolean;
  /** What the model last said no with since then, if it has not answered after that, and how often in a row. */
  refusal(): (Said & { times: number }) | undefined;
  /** When it was last used, monotonic ms. */
  usedAt(): number;
  takeNotices(): string[];
  /** Cuts what is under way; nothing reaches the model through it any more. Repeatable. */
  close(): Promise<void>;
}

interface Turn extends Counting {
  requests: number;
  answers: number;
  over: boolean;
  /** Refusals in a row. */
  times: number;
}

const DIRECT: ModelWay = {
  reached: () => Promise.resolve(undefined),
  begin: () => undefined,
  counts: false,
  requests: () => 0,
  answers: () => 0,
  isOverLimit: () => false,
  refusal: () => undefined,
  usedAt: () => 0,
  takeNotices: () => [],
  close: () => Promise.resolve(),
};

export const NO_RELAY = {
  says: "cannot reach its model through the fence: socat is missing",
  cure: "apt install socat",
};

export function modelWay(
  { sockets }: Pick<OpenRequest, "sockets">,
  { gateway: wanted, user }: { gateway: CommandGateway | undefined; user: Environment },
): ModelWay {
  if (wanted === undefined) return DIRECT;
  const { url: urlName, key: keyName, header, requests: paths } = wanted;
  const upstream = user[urlName] || wanted.upstream;
  const key = user[keyName] ?? "";
  const socket = socketName("command");
  const port = randomInt(FIRST_PORT, LAST_PORT);
  let turn: Turn | undefined;
  let said: Said | undefined;
  let usedAt = 0;
  let failure: string | undefined;
  const isModel = (path: string): boolean => paths.some((one) => path.startsWith(one)) && !FREE_PATH.test(path);
  let opening: Promise<Gateway> | undefined;

  const refused = (refusal: Said | undefined): void => {
    said = refusal;
    if (turn === undefined) return;
    turn.times = refusal === undefined ? 0 : turn.times + 1;
    turn.wake();
  };

  function watcher(path: string): RequestWatcher {
    const of = turn;
    const request = randomUUID();
    const end = path.endsWith(RESPONSES) ? streamEnd(refused) : undefined;
    let usage: UsageStream | undefined;
    return {
      answer(head) {
        end?.answer(head);
        if (head.status >= FIRST_REFUSAL) return;
        const onUsage = (model: string, tokens: Tokens): void => of?.onSpent(request, model, tokens);
        usage = usageStream(head, { onUsage, onRefusal: () => undefined });
      },
      data(chunk) {
        usage?.take(chunk);
        end?.data(chunk);
      },
      end(how) {
        usage?.end();
        end?.end(how);
        if (how !== "unsent" || of === undefined) return;
        of.requests -= 1;
        of.onUnsent();
      },
    };
  }

  async function open(): Promise<Gateway> {
    const { openGateway } = await import("../../platform/gateway.ts");
    return await openGateway({
      upstream,
      paths: ["/"],
      listen: sockets === undefined ? { port: 0 } : { socket: join(sockets.folder, socket), mode: SHARED },
      headers: (sent) => ({
        ...sent,
        // What it answers is read on the way.
        "accept-encoding": "identity",
        [header]: header === "authorization" ? `Bearer ${key}` : key,
      }),
      async beforeForward({ method, path, signal }) {
        usedAt = performance.now();
        if (method !== "POST" || !isModel(path) || turn === undefined) return;
        if (turn.limit !== undefined && turn.requests >= turn.limit) {
          turn.over = true;
          turn.wake();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          return;
        }
        turn.requests += 1;
        turn.onRequest();
      },
      onAnswer(answer) {
        usedAt = performance.now();
        if (!isModel(answer.path)) return;
        const refusal = refusalOf(answer);
        if (refusal === undefined && turn !== undefined) turn.answers += 1;
        refused(refusal);
      },
      watch: ({ method, path }) => (method === "POST" && isModel(path) ? watcher(path) : undefined),
      onFailure(error) {
        failure = brief(error.message);
        refused({ kind: "connection", status: null, resetAt: undefined });
      },
      environment: user,
    });
  }

  return {
    async reached() {
      opening ??= open();
      const { url: own, token } = await opening;
      if (sockets === undefined) return { environment: variables(own, token), url: own, token, before: [] };
      const socat = programAt("socat");
      if (socat === undefined) throw new UsageError(`the agent ${NO_RELAY.says}`, { hint: NO_RELAY.cure });
      const url = `http://127.0.0.1:${port}/${token}`;
      const before = relayWords({
        socat,
        perl: programAt("perl"),
        port,
        socket: join(sockets.at, socket),
        hostPorts: [],
      });
      return { environment: variables(url, token), url, token, before };
    },
    begin(counting) {
      turn = { ...counting, requests: 0, answers: 0, over: false, times: 0 };
      said = undefined;
    },
    counts: true,
    requests: () => turn?.requests ?? 0,
    answers: () => turn?.answers ?? 0,
    isOverLimit: () => turn?.over === true,
    refusal: () => (said === undefined ? undefined : { ...said, times: turn?.times ?? 0 }),
    usedAt: () => usedAt,
    takeNotices() {
      const failed = failure;
      failure = undefined;
      return failed === undefined ? [] : [`the connection to the model failed: ${failed}`];
    },
    async close() {
      const gateway = await opening?.catch(() => undefined);
      await gateway?.close();
    },
  };

  function variables(url: string, token: string): Record<string, string> {
    return { [urlName]: url, [keyName]: token };
  }
}
