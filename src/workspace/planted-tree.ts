/** A tree with failures planted in the base's own test files, written into pawl's repository; the workspace is not touched. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../platform/faults.ts";
import { globMatcher } from "../platform/glob.ts";
import type { Planted, Workspace } from "../ports.ts";
import type { Lane } from "./lane.ts";
import { plantAtEnd } from "./plant-script.ts";
import { isPlantable, plantId, plantIn, plantMark } from "./plant.ts";

const MAX_FILES = 200;
const MAX_FILE_BYTES = 1024 * 1024;
/** As latin1: bytes stay bytes. */
const BYTES = "latin1";

type About = Parameters<Workspace["planted"]>[1];

interface Entry {
  mode: string;
  oid: string;
  path: string;
}

export async function plantedTree(lane: Lane, tree: string, about: About): Promise<Planted | undefined> {
  fault("judge");
  const entries = await testFiles(lane, tree, about);
  if (entries.length === 0) return undefined;
  const folder = mkdtempSync(join(lane.layout.home, "plant-"));
  try {
    const texts = await readBlobs(lane, entries);
    const tests = entries.flatMap((entry, at) => {
      const text = plantIn(entry.path, texts[at] ?? "", { seed: tree, as: about.as });
      return text === undefined ? [] : [{ entry, text }];
    });
    const scripts = entries.flatMap((entry, at) => {
      const text = entry.path === about.script ? plantAtEnd(entry.path, texts[at] ?? "") : undefined;
      return text === undefined ? [] : [{ entry, text }];
    });
    // Where the base has tests of a runner's, these tell more.
    const isScript = tests.length === 0 && about.as === "file";
    const planted = isScript ? scripts : tests;
    if (planted.length === 0) return undefined;
    const files = planted.map(({ text }, at) => {
      const file = join(folder, String(at));
      writeFileSync(file, text, BYTES);
      return file;
    });
    const git = lane.privateGit.at({ index: join(folder, "index") });
    const hash = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
    const oids = (await git.need(hash, { input: `${files.join("\n")}\n` })).split("\n");
    const lines = planted.map(({ entry }, at) => `${entry.mode} ${oids[at]}\t${entry.path}\0`);
    await git.need(["read-tree", tree]);
    await git.need(["update-index", "-z", "--index-info"], { input: Buffer.from(lines.join(""), BYTES) });
    const plants = planted.map(({ entry: { path } }) => ({ path, id: plantId(tree, path) }));
    return { tree: await git.need(["write-tree"]), mark: plantMark(tree), plants, isMet: isScript };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function testFiles(lane: Lane, tree: string, { alsoIn, tests, except, script }: About): Promise<Entry[]> {
  const [isTest, isExcept] = [globMatcher(tests), globMatcher(except)];
  const mayHold = ({ mode, path }: Entry): boolean =>
    mode.startsWith("100") && ((isPlantable(path) && isTest(path)) || path === script) && !isExcept(path);
  const mine = (await list(lane, tree)).filter(mayHold);
  if (alsoIn === tree) return mine.slice(0, MAX_FILES);
  const others = new Set((await list(lane, alsoIn)).map(({ path }) => path));
  return mine.filter(({ path }) => others.has(path)).slice(0, MAX_FILES);
}

async function list({ privateGit }: Lane, tree: string): Promise<Entry[]> {
  const { stdout } = await privateGit.run(["ls-tree", "-r", "-z", "--full-tree", tree]);
  return stdout
    .toString(BYTES)
    .split("\0")
    .flatMap((line) => {
      const [, mode, oid, path] = /^(\d+) blob ([0-9a-f]+)\t([^]*)$/.exec(line) ?? [];
      return mode === undefined || oid === undefined || path === undefined ? [] : [{ mode, oid, path }];
    });
}

/** In the order asked for; what is too long counts as empty. */
async function readBlobs({ privateGit }: Lane, entries: readonly Entry[]): Promise<string[]> {
  const input = `${entries.map(({ oid }) => oid).join("\n")}\n`;
  const { stdout } = await privateGit.run(["cat-file", "--batch"], { input });
  const texts: string[] = [];
  for (let at = 0; at < stdout.length;) {
    const line = stdout.indexOf(0x0a, at);
    const size = Number(/ blob (\d+)$/.exec(stdout.toString(BYTES, at, line))?.[1]);
    if (line < 0 || Number.isNaN(size)) break;
    texts.push(size > MAX_FILE_BYTES ? "" : stdout.toString(BYTES, line + 1, line + 1 + size));
    at = line + 1 + size + 1;
  }
  return texts;
}
