/**
 * What one iteration must do at the least, done by hand in Node with nothing around it: the same git processes, the same
 * check process, the same number of durable writes, in the same order. The measure for pawl's own overhead.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deflateSync } from "node:zlib";
import { median, type Place } from "./support.ts";

/**
 * As counted in a run of pawl: turn-end, change-recorded, check-start, check-end, decision-made, effect-intended,
 * change-accepted, and the next iteration-start with its turn-start.
 */
const FACT_COMMITS = 8;
const FACT_BYTES = 450;

/** One by one is the faster way to sync a few objects. */
const SETTINGS = ["core.fsmonitor=false", "core.hooksPath=/dev/null/none", "core.fsync=all", "core.fsyncMethod=fsync"];

function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; input?: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString("latin1")));
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${command} ${args.join(" ")}: ${code}`)),
    );
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
  });
}

function writeDurably(path: string, content: Uint8Array | string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, "w", 0o600);
  writeSync(fd, Buffer.from(content));
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

function syncFolder(path: string): void {
  const dir = openSync(path, "r");
  fsyncSync(dir);
  closeSync(dir);
}

/** The same beside others: a few at once cost the disk little more than one. */
async function writeBeside(path: string, content: Uint8Array | string): Promise<void> {
  const folder = dirname(path);
  const isNew = mkdirSync(folder, { recursive: true }) !== undefined;
  const file = await open(`${path}.tmp`, "w", 0o600);
  await file.writeFile(content);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
  for (const one of isNew ? [folder, dirname(folder)] : [folder]) {
    const dir = await open(one, "r");
    await dir.sync();
    await dir.close();
  }
}

const oidOf = (type: string, body: string): string =>
  createHash("sha1")
    .update(`${type} ${Buffer.byteLength(body)}\0${body}`)
    .digest("hex");

const placeOf = (oid: string): string => join("objects", oid.slice(0, 2), oid.slice(2));

/** A loose object, as git writes it. */
const objectOf = (type: string, body: string): Buffer =>
  deflateSync(Buffer.from(`${type} ${Buffer.byteLength(body)}\0${body}`));

/** Milliseconds of each iteration from the end of the "turn" to the start of the next. */
export async function byHand(place: Place, iterations: number): Promise<number[]> {
  const priv = join(place.root, "private.git");
  const verify = join(place.root, "verify");
  const userGit = join(place.repo, ".git");
  mkdirSync(verify);
  place.git("clone", "-q", "--bare", "--no-local", place.repo, priv);
  place.git("switch", "-q", "-c", "by-hand");
  const index = join(priv, "lane.index");
  copyFileSync(join(userGit, "index"), index);
  const env = { ...place.env, GIT_INDEX_FILE: index };
  const flags = SETTINGS.flatMap((s) => ["-c", s]);
  const git = (args: string[], input?: string): Promise<string> =>
    run("git", [...flags, `--git-dir=${priv}`, `--work-tree=${place.repo}`, ...args], {
      cwd: place.repo,
      env,
      ...(input === undefined ? {} : { input }),
    });
  const gitVerify = (args: string[]): Promise<string> =>
    run("git", ["-c", "core.fsync=none", `--git-dir=${priv}`, `--work-tree=${verify}`, ...args], {
      cwd: verify,
      env: { ...place.env, GIT_INDEX_FILE: join(priv, "verify.index") },
    });
  const db = new DatabaseSync(join(place.root, "by-hand.db"));
  db.exec(
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE facts (seq INTEGER PRIMARY KEY, body TEXT, hash TEXT)",
  );
  const insert = db.prepare("INSERT INTO facts (body, hash) VALUES (?, ?)");
  const fact = (n: number): void => {
    for (let i = 0; i < n; i += 1) {
      const body = "x".repeat(FACT_BYTES);
      insert.run(body, createHash("sha256").update(body).digest("hex"));
    }
  };
  let tip = place.git("rev-parse", "HEAD");
  let before = tip;
  let tree = place.git("rev-parse", "HEAD^{tree}");
  const times: number[] = [];
  for (let i = 1; i <= iterations; i += 1) {
    writeFileSync(join(place.repo, `work-${i % 50}.txt`), `iteration ${i}\n`);
    const began = performance.now();
    fact(1);
    const listed = await git(["ls-files", "-z", "-m", "-o", "-d", "--exclude-standard"]);
    await git(["update-index", "-z", "--add", "--remove", "--stdin"], listed);
    const [written] = await Promise.all([
      git(["write-tree"]),
      git(["diff-index", "--cached", "-z", "--raw", "--numstat", tree]),
    ]);
    tree = written.trim();
    const commit = (parent: string, by: string): string =>
      `tree ${tree}\nparent ${parent}\nauthor ${by} <${by}@localhost> ${1_800_000_000 + i} +0000\ncommitter pawl <pawl@localhost> ${1_800_000_000 + i} +0000\n\niteration ${i}\n`;
    const snapshot = commit(before, "pawl");
    before = oidOf("commit", snapshot);
    await writeBeside(join(priv, placeOf(before)), objectOf("commit", snapshot));
    await writeBeside(join(priv, "refs", "pawl", "snap", String(i)), `${before}\n`);
    fact(2);
    await gitVerify(["read-tree", "--reset", "-u", tree]);
    // It prints nothing, so there is no log to keep.
    await run("/bin/sh", ["-c", "true"], { cwd: verify, env: place.env });
    fact(3);
    await gitVerify(["ls-files", "-z", "-o", "--directory"]);
    // The hand-over: blob, tree and a commit in the user's name into their repository, then the branch. What a branch
    // names must be found after a power loss, so the names of the objects are synced, too.
    const accepted = commit(tip, "user");
    const oid = oidOf("commit", accepted);
    const loose = [oidOf("blob", `iteration ${i}\n`), tree].filter((one) => !existsSync(join(userGit, placeOf(one))));
    await Promise.all([
      ...loose.map((one) => writeBeside(join(userGit, placeOf(one)), readFileSync(join(priv, placeOf(one))))),
      writeBeside(join(userGit, placeOf(oid)), objectOf("commit", accepted)),
      // Kept on this side as well: the user's repository may go away, or their branch move.
      writeBeside(join(priv, placeOf(oid)), objectOf("commit", accepted)),
    ]);
    await run("git", [...flags, `--git-dir=${userGit}`, "update-ref", "refs/heads/by-hand", oid, tip], {
      cwd: place.repo,
      env: place.env,
    });
    tip = oid;
    // What was handed over last, by which a moved branch is told; beside it the index, whole after a power loss.
    const head = writeBeside(join(priv, "refs", "pawl", "head"), `${oid}\n`);
    copyFileSync(index, join(userGit, "index.lock"));
    const lock = openSync(join(userGit, "index.lock"), "r+");
    fsyncSync(lock);
    closeSync(lock);
    renameSync(join(userGit, "index.lock"), join(userGit, "index"));
    syncFolder(userGit);
    await head;
    writeDurably(join(place.root, "blobs", `prompt-${i}`), "prompt");
    fact(FACT_COMMITS - 6);
    times.push(performance.now() - began);
  }
  db.close();
  return times;
}

/** The plainest loop there is: `git add -A` and `git commit`. */
export async function plainCommit(place: Place, iterations: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 1; i <= iterations; i += 1) {
    writeFileSync(join(place.repo, `work-${i % 50}.txt`), `iteration ${i}\n`);
    const began = performance.now();
    await run("git", ["add", "-A"], { cwd: place.repo, env: place.env });
    await run("git", ["commit", "-q", "-m", `iteration ${i}`], { cwd: place.repo, env: place.env });
    times.push(performance.now() - began);
  }
  return times;
}

export const perIteration = (times: readonly number[]): number => median(times);
