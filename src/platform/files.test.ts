import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { makePrivateDir, writeDurably } from "./files.ts";

/** Writes "new" over "old" in a process of its own, with a planned fault. */
function writeWithFault(fault: string): { content: string; files: string[]; signal: string | null; stderr: string } {
  const dir = tempDir("fault");
  const path = join(dir, "file");
  writeFileSync(path, "old");
  const source = JSON.stringify(join(import.meta.dirname, "files.ts"));
  const script = `import(${source}).then((m) => m.writeDurably(${JSON.stringify(path)}, "new"))`;
  const env = { ...process.env, PAWL_FAULT: fault };
  const { signal, stderr } = spawnSync(process.execPath, ["-e", script], { env, encoding: "utf8" });
  return { content: readFileSync(path, "utf8"), files: readdirSync(dir), signal, stderr };
}

describe("a durable write", () => {
  it("replaces the whole file, readable only by the user", () => {
    const path = join(tempDir("files"), "file");
    writeDurably(path, "one");
    writeDurably(path, Buffer.from("two"));
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const dir = join(tempDir("files"), "a/b");
    makePrivateDir(dir);
    makePrivateDir(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it("leaves the old file and no rest behind when the rename fails (F6)", () => {
    const { content, files, stderr } = writeWithFault("rename:1:ENOSPC");
    expect(content).toBe("old");
    expect(files).toEqual(["file"]);
    expect(stderr).toContain("ENOSPC: injected at rename 1");
  });

  it("leaves the old file whole when the process is killed right before the rename (F1)", () => {
    expect(writeWithFault("rename:1:kill")).toMatchObject({ content: "old", signal: "SIGKILL" });
  });

  it("is not disturbed by a fault planned for something else, for later, or written wrongly", () => {
    for (const fault of ["append:1:EIO", "rename:2:EIO", "rename:one:EIO", "nonsense"]) {
      expect(writeWithFault(fault)).toMatchObject({ content: "new", files: ["file"], signal: null });
    }
  });
});
