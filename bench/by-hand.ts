/**
 * What one iteration must do at the least, done by hand in Node with nothing around it: the same git processes, the same
 * check process, the same number of durable writes, in the same order. The measure for pawl's own overhead.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deflateSync } from "node:zlib";
import { median, type Place } from "./support.ts";

/** As counted in a run of pawl: see `steps` in bench/results.json. */
const FACT_COMMITS = 7;
const FACT_BYTES = 450;

const SETTINGS = ["core.fsmonitor=false", "core.hooksPath=/dev/null/none", "core.fsync=all", "core.fsyncMethod=batch"];

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
  const dir = openSync(dirname(path), "r");
  fsyncSync(dir);
  closeSync(dir);
}

const oidOf = (type: string, body: string): string =>
  createHash("sha1")
    .update(`${type} ${Buffer.byteLength(body)}\0${body}`)
    .digest("hex");

/** A loose object, as git writes it. */
function writeObject(objects: string, type: string, body: string): string {
  const content = Buffer.from(`${type} ${Buffer.byteLength(body)}\0${body}`);
  const oid = oidOf(type, body);
  writeDurably(join(objects, oid.slice(0, 2), oid.slice(2)), deflateSync(content));
  return oid;
}

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
    const message = `tree ${tree}\nparent ${tip}\nauthor pawl <pawl@localhost> ${1_800_000_000 + i} +0000\ncommitter pawl <pawl@localhost> ${1_800_000_000 + i} +0000\n\niteration ${i}\n`;
    const snapshot = writeObject(join(priv, "objects"), "commit", message);
    writeDurably(join(priv, "refs", "pawl", "snap", String(i)), `${snapshot}\n`);
    fact(2);
    await gitVerify(["read-tree", "--reset", "-u", tree]);
    await run("/bin/sh", ["-c", "true"], { cwd: verify, env: place.env });
    writeDurably(join(place.root, "blobs", String(i)), "log");
    fact(2);
    await gitVerify(["ls-files", "-z", "-o", "--directory"]);
    // The hand-over: blob, tree and commit into the user's repository, the branch, the index.
    const blob = oidOf("blob", `iteration ${i}\n`);
    for (const oid of [blob, tree, snapshot]) {
      const place_ = join("objects", oid.slice(0, 2), oid.slice(2));
      mkdirSync(dirname(join(userGit, place_)), { recursive: true });
      copyFileSync(join(priv, place_), join(userGit, place_));
      const fd = openSync(join(userGit, place_), "r");
      fsyncSync(fd);
      closeSync(fd);
    }
    await run("git", [...flags, `--git-dir=${userGit}`, "update-ref", "refs/heads/by-hand", snapshot, tip], {
      cwd: place.repo,
      env: place.env,
    });
    tip = snapshot;
    copyFileSync(index, join(userGit, "index.lock"));
    renameSync(join(userGit, "index.lock"), join(userGit, "index"));
    writeDurably(join(place.root, "blobs", `prompt-${i}`), "prompt");
    fact(FACT_COMMITS - 5);
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
