/** One session's way to its model: the gateway with the gate in it, opened beside the start of the program. */
import { join } from "node:path";
import { makePrivateDir } from "../../platform/files.ts";
import type { Gateway } from "../../platform/gateway.ts";
import { brief } from "../outcome.ts";
import { configDirectory } from "./environment.ts";
import { transcriptGate } from "./gate.ts";
import { modelRoute, type Reached } from "./route.ts";

/** `socket`: for a program that has no network; it can be reached as a file in the agent's home. */
export type Listen = "loopback" | "socket";

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

export function modelWay(home: string, { login, listen }: { login: Record<string, string>; listen: Listen }): ModelWay {
  const route = modelRoute(login);
  if (route.is === "direct") return DIRECT;
  const { to } = route;
  const gate = transcriptGate(configDirectory(home));
  const socket = listen === "socket" ? join(home, "model.sock") : undefined;
  /** The last that went wrong; each try of the program ends in the same. */
  let failure: string | undefined;
  const opening = open();
  opening.catch(() => undefined);

  async function open(): Promise<Gateway> {
    const { openGateway } = await import("../../platform/gateway.ts");
    if (socket !== undefined) makePrivateDir(home);
    return await openGateway({
      ...to,
      listen: socket === undefined ? { port: 0 } : { socket },
      beforeForward: (request) => gate.beforeForward(request),
      onFailure: (error) => (failure = brief(error.message)),
    });
  }

  return {
    reached: async () => ({ gateway: await opening, socket }),
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
