/** A tree with failures planted in the base's own test files, written into pawl's repository; the workspace is not touched. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../platform/faults.ts";
import { globMatcher } from "../platform/glob.ts";
import type { Planted, Workspace } from "../ports.ts";
import type { Lane } from "./lane.ts";
import { plantAtEnd } from "./plant-script.ts";
import { isPlantable, plantId, plantIn, plantMark, usesRunner } from "./plant.ts";

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
    const all = (how: Parameters<typeof planting>[2]["how"]) =>
      entries.flatMap((entry, at) => {
        const found = planting(entry.path, texts[at] ?? "", { seed: tree, about, how });
        return found === undefined ? [] : [{ entry, ...found }];
      });
    const usual = all("as asked");
    // Tests that know no runner may be scripts that something runs one by one.
    const planted = usual.length === 0 && about.as === "file" && about.script === undefined ? all("scripts") : usual;
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
    return {
      tree: await git.need(["write-tree"]),
      mark: plantMark(tree),
      plants,
      isMet: planted.every(({ isMet }) => isMet),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a script that uses no runner, at its end: what it is made of else may be run by whoever reads it. */
function planting(
  path: string,
  text: string,
  { seed, about: { as, script }, how }: { seed: string; about: About; how: "as asked" | "scripts" },
): { text: string; isMet: boolean } | undefined {
  const isMet = path === script && !usesRunner(path, text);
  const way = isMet && as === "file" ? "exit" : "throw";
  const planted =
    isMet || how === "scripts"
      ? plantAtEnd(path, text, { id: plantId(seed, path), mark: plantMark(seed), way })
      : plantIn(path, text, { seed, as });
  return planted === undefined ? undefined : { text: planted, isMet };
}

async function testFiles(lane: Lane, tree: string, about: About): Promise<Entry[]> {
  const { alsoIn, tests, except, script, without = [] } = about;
  const [isTest, isExcept] = [globMatcher(tests), globMatcher(except)];
  const isAsked = (path: string): boolean =>
    script === undefined ? isPlantable(path) && isTest(path) && !without.includes(path) : path === script;
  const mayHold = ({ mode, path }: Entry): boolean => mode.startsWith("100") && isAsked(path) && !isExcept(path);
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
