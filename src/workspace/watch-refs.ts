/**
 * Branches, tags and stashes of the user that vanish, or are set to something that does not hold what they held, while a
 * run works: noticed with the next snapshot, named with their commit, and that commit is kept in pawl's repository.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../platform/files.ts";
import { keepLost } from "./adopt.ts";
import type { Lane } from "./lane.ts";
import { readLoose } from "./objects.ts";
import { parseCommit } from "./private-repository.ts";
import { readRefs } from "./read-refs.ts";

/** More at once are only named. */
const MAX_KEPT_REFS = 20;
const MAX_NAMED_REFS = 200;

/** Says what is gone since the last look; the first look of a run is the baseline. */
export async function watchRefs(lane: Lane): Promise<string[]> {
  const { memory, prepared } = lane;
  const now = readRefs(prepared.commonDir, memory.refs);
  if (now === undefined) return [];
  now.delete(`refs/heads/${prepared.branch ?? ""}`);
  const before = memory.seenRefs ?? lastSeen(lane);
  if (before !== undefined && isSame(before, now)) {
    memory.seenRefs = now;
    return [];
  }
  const said = before === undefined ? [] : await losses(lane, { before, now });
  writeDurably(fileOf(lane), JSON.stringify([...now]));
  memory.seenRefs = now;
  return said;
}

const fileOf = ({ layout }: Lane): string => join(layout.dir, "refs.json");

function lastSeen(lane: Lane): Map<string, string> | undefined {
  const path = fileOf(lane);
  return existsSync(path) ? new Map(JSON.parse(readFileSync(path, "utf8")) as [string, string][]) : undefined;
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, oid]) => other.get(name) === oid);
}

interface Looks {
  before: ReadonlyMap<string, string>;
  now: ReadonlyMap<string, string>;
}

async function losses(lane: Lane, { before, now }: Looks): Promise<string[]> {
  const said: string[] = [];
  let lost = 0;
  for (const [ref, oid] of before) {
    const there = now.get(ref);
    if (there === oid || (there !== undefined && (await holds(lane, { tip: there, oid })))) continue;
    lost += 1;
    if (lost > MAX_NAMED_REFS) continue;
    const what = there === undefined ? "was deleted" : `was set to ${there}`;
    const kept = lost > MAX_KEPT_REFS ? "" : `; ${await keep(lane, { ref, oid })}`;
    said.push(`${shownRef(ref)} ${what} while the run worked; it was at ${oid}${kept}`);
  }
  if (lost > MAX_NAMED_REFS) said.push(`${lost - MAX_NAMED_REFS} more branches and tags are gone`);
  return said;
}

async function holds({ user, prepared }: Lane, { tip, oid }: { tip: string; oid: string }): Promise<boolean> {
  if (isChild({ tip, oid }, prepared.objects)) return true;
  return (await user.run(["merge-base", "--is-ancestor", oid, tip])).code === 0;
}

/** The usual move, one commit further, as other runs in worktrees make it all the time: seen without a git process. */
function isChild({ tip, oid }: { tip: string; oid: string }, objects: string): boolean {
  try {
    const loose = readLoose(objects, tip);
    return loose?.type === "commit" && parseCommit(loose.body.toString("utf8")).parents.includes(oid);
  } catch {
    // A torn object: git is asked.
    return false;
  }
}

/** A tag may be an object of its own: the commit behind it is what counts. */
async function keep(lane: Lane, { ref, oid }: { ref: string; oid: string }): Promise<string> {
  const found = await lane.user.run(["rev-parse", "-q", "--verify", `${oid}^{commit}`]);
  if (found.code !== 0) return "its objects are gone too";
  const commit = found.stdout.toString("latin1").trim();
  const name = ref.replace(/^refs\/(heads\/)?/, "").replaceAll(/[^A-Za-z0-9_-]+/g, "-");
  return await keepLost(lane, { commit, name: `ref-${name}` });
}

function shownRef(ref: string): string {
  if (ref === "refs/stash") return "the stash";
  const [kind, name] = ref.startsWith("refs/heads/") ? ["branch", ref.slice(11)] : ["ref", ref.slice(5)];
  return `the ${kind} ${JSON.stringify(name)}`;
}
