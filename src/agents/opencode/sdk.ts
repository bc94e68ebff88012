/** opencode's SDK is an optional peer: imported on first use, and its absence is told with the command that cures it. */
import type * as SdkModule from "@opencode-ai/sdk/v2/client";
import { UsageError } from "../../errors.ts";
import { installCommand } from "../../platform/install-command.ts";
import type { Environment } from "./login.ts";
import { reachUrl, type Reach } from "./reach.ts";

const PACKAGE = "@opencode-ai/sdk";

export type Client = SdkModule.OpencodeClient;

export async function loadSdk(): Promise<typeof SdkModule> {
  try {
    return await import("@opencode-ai/sdk/v2/client");
  } catch (cause) {
    throw new UsageError(`the opencode agent needs ${PACKAGE}, which is not installed`, {
      hint: installCommand(`${PACKAGE}@1`),
      cause,
    });
  }
}

interface Server {
  reach: Reach;
  user: string;
  /** Empty: it wants none. */
  password: string;
  directory: string;
}

export async function clientOf({ reach, user, password, directory }: Server): Promise<Client> {
  const { createOpencodeClient } = await loadSdk();
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const headers = password === "" ? {} : { authorization };
  return createOpencodeClient({ baseUrl: reach.baseUrl, fetch: reach.fetch, headers, directory });
}

/** Of a server that the user runs, with the user's own password for it. */
export async function attachedClient(
  url: string,
  { user, directory }: { user: Environment; directory: string },
): Promise<Client> {
  const password = user["OPENCODE_SERVER_PASSWORD"] ?? "";
  const name = user["OPENCODE_SERVER_USERNAME"] || "opencode";
  return await clientOf({ reach: reachUrl(url), user: name, password, directory });
}
