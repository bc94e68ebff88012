/** Whether the agent can work here, before anything is spent. */
import { dirname } from "node:path";
import type { RunSpec } from "../../spec.ts";
import { messagesAvailable } from "./client.ts";
import { messagesOptions } from "./options.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws UsageError. */
export function checkMessages({ agent }: Pick<RunSpec, "agent">, env: Environment): void {
  messagesOptions(agent.options);
  messagesAvailable(env);
}

/** The hands are a program for the Node that pawl itself runs on. */
export const messagesFolders = (): string[] => [dirname(process.execPath)];
