/** Files that are open here and have no name: nothing of one is left, however this process ends. */
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns its descriptor, to be opened again by /proc/self/fd for whoever shall read from its beginning. */
export function fileWithoutName(bytes: Uint8Array = new Uint8Array()): number {
  const folder = mkdtempSync(join(tmpdir(), "pawl-fence-"));
  try {
    const file = join(folder, "file");
    writeFileSync(file, bytes, { mode: 0o600 });
    return openSync(file, "r+");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
