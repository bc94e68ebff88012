/** Files that git cannot take in: the run goes on without them, says so, and no restore writes over them unkept. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { inspectRepository } from "./inspect.ts";

const AT = 1_700_000_000_000;
const ABOUT = { parent: null, message: "m", at: AT };
const UTF8 = "Write-Host 'written as UTF-8'\n";
let place: Scratch;

beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

function commitAll(): void {
  place.git("add", "-A");
  place.git("commit", "-qm", "more");
}

/** Stands before the real git in PATH, for what only a bad moment or a bad disk does. */
function putGit(script: (real: string) => string): void {
  const bin = join(place.root, "bin");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${script(real)}`);
  chmodSync(join(bin, "git"), 0o755);
  place.environment["PATH"] = `${bin}:${place.environment["PATH"] ?? ""}`;
}

/** Dies while it reads a file called `shrinks`, so many times. */
function gitThatDies(times: number): void {
  const count = join(place.root, "count");
  writeFileSync(count, `${times}`);
  putGit(
    (real) => `case "$*" in *update-index*--stdin*)
  input=$(mktemp); cat > "$input"
  if grep -q shrinks "$input" && [ "$(cat ${count})" -gt 0 ]; then
    echo $(($(cat ${count}) - 1)) > ${count}
    rm "$input"; touch "$GIT_INDEX_FILE.lock"; kill -BUS $$
  fi
  ${real} "$@" < "$input"; code=$?; rm "$input"; exit $code;;
esac
exec ${real} "$@"
`,
  );
}

describe("a file that git cannot take in", () => {
  it("is none that has become a folder, nor a folder that has become a file", async () => {
    place.write("plan", "a file\n");
    place.write("notes/a", "in a folder\n");
    commitAll();
    const workspace = await openFor(place);
    await workspace.prepare();
    rmSync(join(place.repo, "plan"));
    place.write("plan/first", "now a folder\n");
    rmSync(join(place.repo, "notes"), { recursive: true });
    place.write("notes", "now a file\n");
    const taken = await workspace.snapshot(1, ABOUT);
    expect(taken.warnings).toEqual([]);
    await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 1 });
    expect(place.git("ls-files")).toContain("notes\nplan/first");
  });

  it("for its encoding is left out and said; the rest is taken and handed over", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write(".gitattributes", "*.ps1 text working-tree-encoding=UTF-16\n");
    for (const name of ["a", "b", "c", "d", "e"]) place.write(`${name}.txt`, name);
    place.write("install.ps1", UTF8);
    const taken = await workspace.snapshot(1, ABOUT);
    expect(taken.fileCount).toBe(6);
    expect(taken.warnings).toEqual([expect.stringContaining('"install.ps1" could not be stored and is only on disk')]);
    await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 1 });
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task\n?? install.ps1");
  });

  it("for a filter that fails, whatever its name", async () => {
    place.write(".gitattributes", "*.bin filter=strict\n");
    commitAll();
    place.git("config", "filter.strict.clean", "false");
    place.git("config", "filter.strict.required", "true");
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("\r\u0001.bin", "x\n");
    place.write("other.bin", "x\n");
    place.write("fine.txt", "x\n");
    const taken = await workspace.snapshot(1, ABOUT);
    expect(taken.files.map(({ path }) => path)).toEqual(["fine.txt"]);
    expect(taken.warnings).toHaveLength(2);
  });

  it("is in the salvage byte for byte when a restore writes over it", async () => {
    place.write(".gitattributes", "*.ps1 text working-tree-encoding=UTF-16\n");
    place.write("install.ps1", Buffer.from("\ufeffgood\n", "utf16le"));
    commitAll();
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("install.ps1", UTF8);
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(join(place.repo, "install.ps1"), "utf16le")).toContain("good");
    expect(place.privateGit("show", "refs/pawl/r1/main/salvage/1:install.ps1")).toBe(UTF8.trimEnd());
  });

  it("for it shrinks while it is read is read again; no lock is left", async () => {
    gitThatDies(2);
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("shrinks", "x\n");
    const taken = await workspace.snapshot(1, ABOUT);
    expect([taken.files.map(({ path }) => path), taken.warnings]).toEqual([["shrinks"], []]);
  });

  it("for it shrinks all the time is left out, and taken once it is still", async () => {
    gitThatDies(1_000);
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("shrinks", "x\n");
    place.write("still", "x\n");
    const taken = await workspace.snapshot(1, ABOUT);
    expect(taken.files.map(({ path }) => path)).toEqual(["still"]);
    expect(taken.warnings).toEqual([expect.stringContaining("it changed while it was read (SIGBUS)")]);
    writeFileSync(join(place.root, "count"), "0");
    const next = await workspace.snapshot(2, { ...ABOUT, parent: 1 });
    expect(next.files.map(({ path }) => path)).toEqual(["shrinks"]);
  });

  it("and a git that is killed while it is asked: no answer is not taken for one", async () => {
    putGit((real) => `case "$*" in *rev-parse*) kill -KILL $$;; esac\nexec ${real} "$@"\n`);
    await expect(inspectRepository(place.repo, place)).rejects.toThrow("git rev-parse failed: SIGKILL");
  });

  it("and a git that fails before it has said what HEAD is: that is not a repository without a commit", async () => {
    putGit((real) => `case "$*" in *rev-parse*) ${real} "$@" | head -n 6; exit 128;; esac\nexec ${real} "$@"\n`);
    await expect(inspectRepository(place.repo, place)).rejects.toThrow("git rev-parse failed: exit 128");
  });

  it("for the disk is full is no file's fault: the snapshot fails", async () => {
    const said = "error: unable to write file: No space left on device\\nfatal: Unable to process path new.txt\\n";
    putGit((real) => `case "$*" in *update-index*) printf '${said}' >&2; exit 128;; esac\nexec ${real} "$@"\n`);
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("new.txt", "x\n");
    await expect(workspace.snapshot(1, ABOUT)).rejects.toThrow("No space left on device");
  });
});
