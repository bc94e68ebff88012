/**
 * Codex's own sandbox makes empty folders in the workspace to hide what may lie there, and leaves them when a command
 * is ended by force. What was not there before a turn, and is empty, is taken away after it.
 */
import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";

const NAMES = [".agents", ".aws", ".codex", ".git"];

/** Returns what takes them away. */
export function watchPlaceholders(workspace: string): () => void {
  const absent = NAMES.map((name) => join(workspace, name)).filter((path) => !existsSync(path));
  return () => {
    for (const path of absent) {
      try {
        rmdirSync(path);
      } catch {
        // It is not there, or it is somebody's.
      }
    }
  };
}
