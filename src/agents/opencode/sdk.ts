/** opencode's SDK is an optional peer: imported on first use, and its absence is told with the command that cures it. */
import type * as SdkModule from "@opencode-ai/sdk/v2/client";
import { UsageError } from "../../errors.ts";

const PACKAGE = "@opencode-ai/sdk";

export type Sdk = typeof SdkModule;
export type Client = SdkModule.OpencodeClient;

export async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@opencode-ai/sdk/v2/client");
  } catch (cause) {
    throw new UsageError(`the opencode agent needs ${PACKAGE}, which is not installed`, {
      hint: `npm install ${PACKAGE}`,
      cause,
    });
  }
}
