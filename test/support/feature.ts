/** A command's check on a base and on what a change makes of it, as a run would ask it: for real runners, without a run. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { commandCheck } from "../../src/checks/command.ts";
import type { Verdict } from "../../src/events.ts";
import { noAbout } from "./about.ts";
import { memoryBlobs } from "./blobs.ts";
import { toolchains } from "./programs.ts";
import { tempDir, writeFiles } from "./temp.ts";

export type Files = Readonly<Record<string, string>>;

const MODULES = join(import.meta.dirname, "../../node_modules");
const TREES = { base: "1".repeat(40), change: "2".repeat(40) };
/** Against a hang alone. */
export const LIMIT_MS = 600_000;

/** What the base says, and then the change, which brings in or changes the files that are given last. */
export async function judgedFeature(
  command: string,
  { base, change }: { base: Files; change: Files },
): Promise<{ before: Verdict; after: Verdict }> {
  const [blobs, folder, home] = [memoryBlobs(), tempDir("reports"), tempDir("home")];
  const PATH = `${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}`;
  const check = commandCheck(
    { name: "test", kind: "command", command, required: true, timeoutMs: LIMIT_MS },
    {
      run: "r-feature",
      environment: { PATH, HOME: home, TMPDIR: home, PYTHONDONTWRITEBYTECODE: "1", ...toolchains() },
      blobs,
      reports: { folder, at: folder },
    },
  );
  const judge = async (tree: string, files: Files, baseline?: Verdict): Promise<Verdict> => {
    const path = tempDir("feature");
    writeFiles(path, { ...files });
    symlinkSync(MODULES, join(path, "node_modules"));
    const changed = tree === TREES.base ? [] : Object.keys(change);
    const about = {
      ...noAbout,
      baseline,
      isBase: tree === TREES.base,
      change: {
        ...noAbout.change,
        base: TREES.base,
        tree,
        files: async () => changed.map((one) => ({ path: one, status: one in base ? "M" : "A", added: 1, removed: 0 })),
        before: async (one: string) => base[one],
      },
    };
    const verify = { path, tree, isolation: "copy", release: async () => {} };
    return await check.judge(verify, new AbortController().signal, about);
  };
  const before = await judge(TREES.base, base);
  return { before, after: await judge(TREES.change, { ...base, ...change }, before) };
}

/** In one word: red, suspicious, or green. */
export function inOneWord(verdict: Verdict): string {
  if (verdict.is !== "pass") return verdict.is === "fail" ? "red" : verdict.is;
  return verdict.evidence.suspicions.length > 0 ? "suspicious" : "green";
}
