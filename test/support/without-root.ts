/** Root is not held by the modes of files: what is about them is played as somebody else. */
import { execFileSync } from "node:child_process";

const NOBODY = 65_534;

/** Somebody else meanwhile, as far as files are concerned; what lies in `folders` is theirs. Nothing where nobody is root. */
export function withoutRoot(...folders: string[]): Disposable {
  if (process.getuid?.() !== 0) return { [Symbol.dispose]: () => undefined };
  if (folders.length > 0) execFileSync("chown", ["-hR", `${NOBODY}:${NOBODY}`, ...folders]);
  process.seteuid?.(NOBODY);
  return { [Symbol.dispose]: () => process.seteuid?.(0) };
}
