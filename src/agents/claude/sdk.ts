/** The Agent SDK is an optional peer: imported on first use, and its absence is told with the command that cures it. */
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import type * as SdkModule from "@anthropic-ai/claude-agent-sdk";
import { UsageError } from "../../errors.ts";
import { programPath, readableFor } from "../programs.ts";
import type { ClaudeOptions } from "./options.ts";

const PACKAGE = "@anthropic-ai/claude-agent-sdk";
const INSTALL = `npm install ${PACKAGE}`;

type Sdk = typeof SdkModule;

let isLoaded = false;

/** Whether loading it takes no time any more. */
export const isSdkLoaded = (): boolean => isLoaded;

export async function loadSdk(): Promise<Sdk> {
  try {
    const sdk = await import("@anthropic-ai/claude-agent-sdk");
    isLoaded = true;
    return sdk;
  } catch (cause) {
    throw notInstalled(cause);
  }
}

const notInstalled = (cause?: unknown): UsageError =>
  new UsageError(`the claude agent needs ${PACKAGE}, which is not installed`, { hint: INSTALL, cause });

/** The file that would be loaded; undefined when it is not installed. */
export function sdkFile(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(PACKAGE);
  } catch {
    return undefined;
  }
}

/** Throws UsageError when the SDK or the program is missing. Starts nothing, loads nothing. */
export function claudeAvailable(
  { bin }: Pick<ClaudeOptions, "bin">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  if (sdkFile() === undefined) throw notInstalled();
  if (bin === undefined) {
    if (!hasOwnProgram()) {
      throw new UsageError(`the Claude Code program that comes with ${PACKAGE} is missing on this platform`, {
        hint: `${INSTALL} --include=optional, or name one with --agent-bin`,
      });
    }
    return;
  }
  if (programPath(bin, env) === undefined) {
    throw new UsageError(`--agent-bin ${bin} is not a program`, { hint: "the path of the claude executable" });
  }
}

/** What must be readable for the program to run. */
export function claudeFolders({ bin }: { bin?: unknown }): string[] {
  if (typeof bin === "string") return bin.includes("/") ? readableFor(resolve(bin)) : [];
  return ownPrograms();
}

/** The program itself; undefined when it is looked for in the PATH, or missing. */
export function claudeProgram({ bin }: { bin?: unknown }): string | undefined {
  if (typeof bin === "string") return bin.includes("/") ? resolve(bin) : undefined;
  const [folder] = ownPrograms();
  return folder === undefined ? undefined : join(folder, "claude");
}

const hasOwnProgram = (): boolean => ownPrograms().length > 0;

function ownPrograms(): string[] {
  const require = createRequire(import.meta.url);
  const name = `${PACKAGE}-${process.platform}-${process.arch}`;
  return [name, `${name}-musl`].flatMap((candidate) => {
    try {
      return [dirname(require.resolve(`${candidate}/package.json`))];
    } catch {
      return [];
    }
  });
}
