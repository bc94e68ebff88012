/** The protocol's own library, loaded on use: it is an optional peer. */
import type * as Acp from "@agentclientprotocol/sdk";
import { UsageError } from "../../errors.ts";
import { installCommand } from "../../platform/install-command.ts";

export type Sdk = typeof Acp;

let loading: Promise<Sdk> | undefined;

/** Rejects with a UsageError when it is not installed. */
export function loadSdk(): Promise<Sdk> {
  loading ??= import("@agentclientprotocol/sdk").catch((cause: unknown) => {
    loading = undefined;
    throw new UsageError("the acp agent needs the package @agentclientprotocol/sdk, which is not installed", {
      hint: installCommand("@agentclientprotocol/sdk@2"),
      cause,
    });
  });
  return loading;
}
