/** In a process of its own: checks on trees of a repository of 50,000 files with 1 GB of dependencies. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../src/platform/process.ts";
import { judgedPlace, type JudgedPlace } from "../test/support/judged-place.ts";
import { median } from "./support.ts";

const FILES = 50_000;
const FILES_OF_A_FOLDER = 100;
const PACKAGES = 500;
const FILES_OF_A_PACKAGE = 40;
const PACKAGE_FILE_BYTES = 1024 ** 3 / (PACKAGES * FILES_OF_A_PACKAGE);
/** Files of a change, and how often it is measured. */
const CHANGES = [
  [1, 21],
  [100, 15],
  [10_000, 7],
] as const;
/** Reads some of both, as a small test does. */
const COMMAND = "cat src/1/*.js node_modules/p1/*.js > /dev/null";

export interface ChecksChild {
  isolation: string;
  prepareMs: number;
  firstCheckMs: number;
  changes: { files: number; handMs: number; checkMs: number; readyMs: number; writeMs: number }[];
}

const nameOf = (n: number): string => `src/${Math.floor(n / FILES_OF_A_FOLDER)}/f${n}.js`;

function install(repo: string): void {
  const content = Buffer.alloc(PACKAGE_FILE_BYTES, "x = 1;\n");
  for (let n = 0; n < PACKAGES; n += 1) {
    const folder = join(repo, "node_modules", `p${n}`);
    mkdirSync(folder, { recursive: true });
    for (let k = 0; k < FILES_OF_A_PACKAGE; k += 1) writeFileSync(join(folder, `m${k}.js`), content);
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now();
  const result = await work();
  return { ms: performance.now() - began, result };
}

async function byHand({ repo }: JudgedPlace): Promise<number> {
  const env = { PATH: process.env["PATH"] ?? "" };
  const { ms, result } = await timed(() =>
    runProcess({ command: "/bin/sh", args: ["-c", COMMAND], cwd: repo, env, timeoutMs: 60_000 }),
  );
  if (result.exitCode !== 0) throw new Error(`by hand: exit ${result.exitCode}`);
  return ms;
}

/** As many new files as the change has, beside the repository: what the disk takes for them today. */
function written(root: string, count: number): number {
  const folder = join(root, "written");
  mkdirSync(folder);
  const began = performance.now();
  for (let n = 0; n < count; n += 1) writeFileSync(join(folder, String(n)), "export const v = 1;\n".repeat(20));
  const ms = performance.now() - began;
  rmSync(folder, { recursive: true });
  return ms;
}

async function checked(place: JudgedPlace, tree: string): Promise<{ ms: number; isolation: string }> {
  const { ms, result } = await timed(() => place.judge(COMMAND, { tree }));
  if (result.verdict.is !== "pass") throw new Error(JSON.stringify(result.verdict));
  return { ms, isolation: result.verdict.evidence.isolation };
}

const how = process.argv[2] === "copy" ? "none" : "bwrap";
const files = Object.fromEntries(
  Array.from({ length: FILES }, (_, n) => [nameOf(n), `export const v = ${n};\n`.repeat(20)]),
);
const { ms: prepareMs, result: place } = await timed(() =>
  judgedPlace({ files: { ".gitignore": "node_modules/\n", ...files }, install, fence: how }),
);
try {
  const first = await checked(place, place.base);
  const changes: ChecksChild["changes"] = [];
  let at = 0;
  for (const [count, rounds] of CHANGES) {
    const hand: number[] = [];
    const check: number[] = [];
    const ready: number[] = [];
    const write: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (let n = 0; n < count; n += 1) appendFileSync(join(place.repo, nameOf((at += 1) % FILES)), "changed\n");
      const tree = await place.snapshot();
      // What was left to be done beside the next turn is not this check's.
      await new Promise((resolve) => setTimeout(resolve, 200));
      hand.push(await byHand(place));
      write.push(written(place.root, count));
      // A third of them only brings the tree: which share of the whole that is.
      if (round % 3 === 2) {
        const { ms, result } = await timed(() => place.open(tree));
        await result.release();
        ready.push(ms);
      } else check.push((await checked(place, tree)).ms);
    }
    changes.push({
      files: count,
      handMs: median(hand),
      checkMs: median(check),
      readyMs: median(ready),
      writeMs: median(write),
    });
  }
  const { ms: firstCheckMs, isolation } = first;
  console.log(JSON.stringify({ isolation, prepareMs, firstCheckMs, changes } satisfies ChecksChild));
} finally {
  await place.close();
}
