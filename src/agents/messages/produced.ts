/** Files that code made in the provider's sandbox: fetched, and put into the workspace by the hands, inside the fence. */
import { parse } from "node:path";
import type { AgentEvent } from "../../ports.ts";
import { MAX_PRODUCED_FILES, type OwnExecution } from "../../ports/executor.ts";
import { brief } from "../outcome.ts";
import type { Ran } from "./executions.ts";
import type { Hands } from "./hands.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Container } from "./stream.ts";

interface About {
  sandbox: Sandbox;
  hands: Hands;
  container: Container | undefined;
  tell: (event: AgentEvent) => void;
  signal: AbortSignal;
}

/** Folders are left out of the names, so two files of one program may have the same. */
function free(name: string, taken: ReadonlySet<string>): string {
  const { name: stem, ext } = parse(name);
  for (let n = 1; ; n += 1) {
    const one = n === 1 ? name : `${stem}-${n}${ext}`;
    if (!taken.has(one)) return one;
  }
}

/** One that cannot be had is told, and left out. */
export async function producedBy(
  { language, code, execution, fileIds }: Ran,
  { sandbox, hands, container, tell, signal }: About,
): Promise<OwnExecution> {
  const files: OwnExecution["files"][number][] = [];
  for (const fileId of fileIds.slice(0, MAX_PRODUCED_FILES)) {
    try {
      const { name: given, bytes } = await sandbox.download(fileId, signal);
      const name = free(given, new Set(files.map(({ path }) => path)));
      const input = { file_path: name, content: bytes.toString("base64"), encoding: "base64" };
      const { ok, output } = await hands.call("Write", input, signal);
      if (!ok) throw new Error(output);
      files.push({ path: name, bytes: bytes.length, fileId });
    } catch (error) {
      tell({ type: "notice", text: brief(`a file that the code made could not be fetched: ${String(error)}`) });
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const told = files.map(({ path, bytes }) => ({ path, bytes }));
  return { language, code, execution: { ...execution, files: told }, container, files };
}
