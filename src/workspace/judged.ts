/**
 * The judged tree: a snapshot with the base's protected files put back and what the base lacks of runner configuration
 * taken out. Found from what differs between the two trees alone; where nothing protected does, it costs nothing.
 */
import { dirname, join } from "node:path";
import type { PathChange } from "../events.ts";
import type { Lane } from "./lane.ts";
import { mergedJson, withoutComments, type Merged } from "./protected-json.ts";
import { mergedSections } from "./protected-sections.ts";
import type { RawPath } from "./scan.ts";
import { differences, exchanged, type Blob, type Difference, type Exchange } from "./tree-entries.ts";
import { copyIndex } from "./user-index.ts";

/** Tests of a tree that are not as the base has them. */
export interface TestsApart {
  newTests: readonly RawPath[];
  /** Those of the base that the agent changed and was allowed to. */
  testsChanged: readonly PathChange[];
}

export interface Judged extends TestsApart {
  tree: string;
  /** What differs from the snapshot, and how. */
  exchange: Exchange;
  undone: PathChange[];
  /** Without the tests that the base lacks, where that is another tree. */
  baseTests?: string;
}

interface Plan {
  exchange: Map<RawPath, Blob | null>;
  undone: PathChange[];
  testsChanged: PathChange[];
  newTests: RawPath[];
}

const FILE = /^100/;
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

/** `guard`: what the protected files are to be. pawl's index is at `tree`. */
export async function judgedTree(lane: Lane, { guard, tree }: { guard: string; tree: string }): Promise<Judged> {
  const made = await plan(lane, { guard, tree });
  // Where the base has no tests there are none to be run alone.
  const newTests = made.newTests.length === 0 || (await hasTests(lane, guard)) ? made.newTests : [];
  return await composed(lane, { tree, ...made, newTests });
}

async function hasTests(lane: Lane, guard: string): Promise<boolean> {
  const known = lane.memory.guardTests;
  if (known?.guard === guard) return known.any;
  const listed = await lane.privateGit.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", guard]);
  if (listed.code !== 0 || listed.truncated) return true;
  const any = listed.stdout
    .toString("utf8")
    .split("\0")
    .some((path) => lane.protection.kindOf(path) === "test");
  lane.memory.guardTests = { guard, any };
  return any;
}

/** The same where nothing protected changed since a tree whose tests are known. */
export async function judgedAgain(lane: Lane, { tree, tests }: { tree: string; tests: TestsApart }): Promise<Judged> {
  const { newTests, testsChanged } = tests;
  return await composed(lane, { tree, exchange: new Map(), undone: [], newTests, testsChanged });
}

async function composed(lane: Lane, plan: Omit<Judged, "baseTests">): Promise<Judged> {
  const { tree, exchange, newTests, testsChanged } = plan;
  const isSame = exchange.size === 0;
  // Moved tests are new ones, too: what was allowed to change is judged in one piece.
  const apart = testsChanged.length === 0 ? newTests : [];
  if (isSame && apart.length === 0) return plan;
  const index = join(lane.layout.dir, "judged.index");
  copyIndex(lane.layout.index, index);
  const git = lane.view.at({ index, sync: "few" });
  const judged = isSame ? tree : await exchanged(git, exchange);
  const without = new Map<RawPath, Blob | null>(apart.map((path) => [path, null]));
  const baseTests = apart.length === 0 ? judged : await exchanged(git, without);
  return { ...plan, tree: judged, ...(baseTests === judged ? {} : { baseTests }) };
}

/** What of a tree would be undone. */
export async function undoneIn(lane: Lane, trees: { guard: string; tree: string }): Promise<PathChange[]> {
  return (await plan(lane, trees)).undone;
}

async function plan(lane: Lane, { guard, tree }: { guard: string; tree: string }): Promise<Plan> {
  const made: Plan = { exchange: new Map(), undone: [], testsChanged: [], newTests: [] };
  const all = await differences(lane.privateGit, { from: guard, to: tree });
  const manifests: Difference[] = [];
  for (const difference of all) {
    const { path, before, after } = difference;
    const undo = (): void => {
      made.exchange.set(path, before ?? null);
      made.undone.push(said(difference));
    };
    switch (lane.protection.kindOf(textOf(path))) {
      case undefined:
        break;
      case "config":
        undo();
        break;
      case "test":
        if (before === undefined && after !== undefined) made.newTests.push(path);
        else if (lane.protection.testChanges === "undo") undo();
        else made.testsChanged.push(said(difference));
        break;
      case "keys":
        manifests.push(difference);
    }
  }
  for (const manifest of manifests) await planManifest(lane, { manifest, made, tree });
  clearTheWay(made, all);
  return made;
}

const textOf = (path: RawPath): string => Buffer.from(path, "latin1").toString("utf8");
const said = ({ path, before, after }: Difference): PathChange => ({
  path: textOf(path),
  how: before === undefined ? "added" : after === undefined ? "removed" : "edited",
});

/** A file where a folder with protected files was, and files below what was a protected one. */
function clearTheWay({ exchange, undone, newTests }: Plan, all: readonly Difference[]): void {
  const put = [...exchange].flatMap(([path, blob]) => (blob === null ? [] : [path]));
  if (put.length === 0) return;
  const above = new Set(put.flatMap(foldersOf));
  const files = new Set(put);
  for (const difference of all) {
    const { path, after, before } = difference;
    if (after === undefined || before !== undefined || exchange.has(path)) continue;
    if (!above.has(path) && !foldersOf(path).some((folder) => files.has(folder))) continue;
    exchange.set(path, null);
    undone.push(said(difference));
    const at = newTests.indexOf(path);
    if (at >= 0) newTests.splice(at, 1);
  }
}

function foldersOf(path: RawPath): RawPath[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

async function planManifest(
  lane: Lane,
  { manifest, made, tree }: { manifest: Difference; made: Plan; tree: string },
): Promise<void> {
  const { path, before, after } = manifest;
  const put = (blob: Blob | null): void => {
    made.exchange.set(path, blob);
    made.undone.push(said(manifest));
  };
  if (after === undefined) {
    // A folder that is gone takes its manifest along; its tests, if it had any, would have been put back.
    if (before !== undefined && !(await isFolderGone(lane, { path, made, tree }))) put(before);
    return;
  }
  // A link would have another file read in its place.
  if (!FILE.test(after.mode) || (before !== undefined && !FILE.test(before.mode))) return put(before ?? null);
  const base = before === undefined ? undefined : await read(lane, before);
  if (before !== undefined && base === undefined) return put(before);
  const merged = mergedFile(textOf(path), {
    theirs: await read(lane, after),
    base,
    keys: lane.protection.keysOf(textOf(path)),
  });
  if (merged.is === "same") return;
  if (merged.is === "base") return put(before ?? null);
  if (merged.text.trim() === "") return put(before ?? null);
  put({ mode: after.mode, oid: await lane.privateGit.need(["hash-object", "-w", "--stdin"], { input: merged.text }) });
}

function mergedFile(
  path: string,
  { theirs, base, keys }: { theirs: string | undefined; base: string | undefined; keys: string[] },
): Merged {
  if (theirs === undefined) return { is: "base" };
  if (/\.json$/i.test(path)) return mergedJson(theirs, base, keys);
  if (/\.jsonc$/i.test(path)) return mergedJson(withoutComments(theirs), base && withoutComments(base), keys);
  return mergedSections(theirs, base, { patterns: keys, syntax: /\.toml$/i.test(path) ? "toml" : "ini" });
}

async function isFolderGone(
  lane: Lane,
  { path, made, tree }: { path: RawPath; made: Plan; tree: string },
): Promise<boolean> {
  const folder = dirname(path);
  if (folder === ".") return false;
  if ([...made.exchange].some(([other, blob]) => blob !== null && other.startsWith(`${folder}/`))) return false;
  const listed = await lane.privateGit.run(["ls-tree", "-z", "--full-tree", tree, "--", `${textOf(folder)}/`]);
  return listed.code === 0 && listed.stdout.length === 0;
}

/** undefined when it is too long, or no text. */
async function read(lane: Lane, { oid }: Blob): Promise<string | undefined> {
  const { stdout, truncated, code } = await lane.privateGit.run(["cat-file", "blob", oid], {
    maxBytes: MAX_MANIFEST_BYTES,
  });
  if (truncated || code !== 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(stdout);
  } catch {
    return undefined;
  }
}
