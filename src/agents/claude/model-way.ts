/** One session's way to its model: the gateway with the gate in it, opened beside the start of the program. */
import { join } from "node:path";
import type { Gateway } from "../../platform/gateway.ts";
import type { OpenRequest } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { configDirectory } from "./environment.ts";
import { transcriptGate } from "./gate.ts";
import { keptLogin } from "./kept-login.ts";
import { hasKey, modelRoute, withBearer, type Reached } from "./route.ts";
import { claudeProgram } from "./program.ts";
import { socketName } from "../socket-name.ts";

/** Inside a fence the program may have another uid; the folder's parent is the user's alone. */
const SHARED = 0o666;

export interface ModelWay {
  /** undefined: the program goes to its model directly. */
  reached(): Promise<Reached | undefined>;
  /** What people should know of the requests since the last time. */
  takeNotices(): string[];
  /** Cuts what is under way; nothing reaches the model through it any more. Repeatable. */
  close(): Promise<void>;
}

const DIRECT: ModelWay = {
  reached: () => Promise.resolve(undefined),
  takeNotices: () => [],
  close: () => Promise.resolve(),
};

interface Whose {
  login: Record<string, string>;
  /** The user's own environment. */
  user: Readonly<Record<string, string | undefined>>;
}

export function modelWay({ home, sockets, confine, agent }: OpenRequest, { login, user }: Whose): ModelWay {
  const route = modelRoute(login);
  if (route.is === "direct") return DIRECT;
  const { to } = route;
  const gate = transcriptGate(configDirectory(home));
  const name = socketName("claude");
  const kept =
    confine === undefined || hasKey(login)
      ? undefined
      : keptLogin({ login, program: () => claudeProgram(agent.options, user) });
  /** The last that went wrong; each try of the program ends in the same. */
  let failure: string | undefined;
  const opening = open();
  opening.catch(() => undefined);

  async function open(): Promise<Gateway> {
    const { openGateway } = await import("../../platform/gateway.ts");
    return await openGateway({
      ...to,
      listen: sockets === undefined ? { port: 0 } : { socket: join(sockets.folder, name), mode: SHARED },
      headers: (sent, token) => withBearer(to.headers(sent, token), { token, login, bearer: kept?.bearer() }),
      async beforeForward(request) {
        await kept?.ready();
        await gate.beforeForward(request);
      },
      onFailure: (error) => (failure = brief(error.message)),
    });
  }

  return {
    async reached() {
      const gateway = await opening;
      const socket = sockets === undefined ? undefined : join(sockets.at, name);
      return { gateway, socket, ...(kept === undefined ? {} : { login: kept.environment(gateway.token) }) };
    },
    takeNotices() {
      const overdue = gate.takeOverdue();
      const failed = failure;
      failure = undefined;
      return [
        ...(failed === undefined ? [] : [`the connection to the model failed: ${failed}`]),
        ...(overdue === 0 ? [] : [`${overdue} model requests left before the agent's transcript was written`]),
      ];
    },
    async close() {
      const gateway = await opening.catch(() => undefined);
      await gateway?.close();
      gate.close();
    },
  };
}
