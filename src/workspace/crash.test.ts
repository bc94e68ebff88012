/**
 * Killed before any spawn or rename of a whole run's git work, a second driver goes on by doing the unfinished step
 * again, and the end is that of an undisturbed run. The suite takes a sample; PAWL_CAMPAIGN=full takes every point.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratch, specFor, type Scratch } from "../../test/fixtures/repository.ts";
import { figure, FULL } from "../../test/support/figure.ts";

const DRIVER_TIMEOUT_MS = 150_000;
const MAX_PASSED = FULL ? 4 : 0;
const STEP = FULL ? 1 : 13;
const MODULE = new URL("open.ts", import.meta.url).href;

/** A driver in small: every finished step is written down, and only unfinished ones are done. */
const DRIVER = `
import { appendFileSync, existsSync, readFileSync, writeFileSync, rmSync } from "node:fs";
import { openWorkspace } from ${JSON.stringify(MODULE)};
const { request, log } = JSON.parse(process.argv[1]);
const done = existsSync(log) ? readFileSync(log, "utf8").split("\\n") : [];
const workspace = await openWorkspace(request);
const at = 1_700_000_000_000;
const file = (name) => request.spec.path + "/" + name;
const trees = {};
const snapshot = async (n) => { trees[n] = (await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: "m", at })).judged; };
const accept = async (n, tree) => {
  const accepted = await workspace.accept({ tree: tree ?? trees[n], message: "iteration " + n, at: at + n * 1000, snapshot: n });
  if (accepted.conflict !== undefined || accepted.warnings.length > 0) throw new Error(JSON.stringify(accepted));
};
const steps = {
  prepare: () => workspace.prepare(),
  "agent 1": () => { writeFileSync(file("a.txt"), "by the agent\\n"); writeFileSync(file("new.txt"), "new\\n"); },
  "iterate 1": async () => { await snapshot(1); await (await workspace.verifyTree(trees[1])).release(); await accept(1); },
  "agent 2": () => { writeFileSync(file("a.txt"), "spoiled\\n"); rmSync(file("new.txt"), { force: true }); },
  "iterate 2": async () => { await snapshot(2); await accept(2); },
  "restore": async () => { const { tree } = await workspace.restore(1, { salvage: "1", at }); await accept(3, tree); },
};
for (const [name, step] of Object.entries(steps)) {
  if (done.includes(name)) continue;
  await step();
  appendFileSync(log, name + "\\n");
}
await workspace.close();
process.stdout.write("finished");
`;

let template: Scratch;
let expected: unknown;

beforeAll(() => {
  template = scratch();
  template.write("a.txt", "dirty\n");
  template.git("add", "-A");
  template.write("a.txt", "dirtier\n");
  template.write("untracked.txt", "u\n");
  const undisturbed = copy();
  expect(drive(undisturbed, undefined)).toEqual({ finished: true, said: "" });
  expected = end(undisturbed);
  undisturbed.remove();
});
afterAll(() => template.remove());

/** A copy at a place of its own: paths are absolute in pawl's state. */
function copy(): Scratch {
  const place = scratch({ empty: true });
  rmSync(place.repo, { recursive: true });
  cpSync(template.repo, place.repo, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return place;
}

function drive(place: Scratch, fault: string | undefined): { finished: boolean; said: string } {
  const { stateDir, environment, repo } = place;
  const request = { spec: specFor(repo, { allowDirty: true }), run: "r1", lane: "main", stateDir, environment };
  const argument = JSON.stringify({ request, log: join(place.root, "done") });
  const result = spawnSync(process.execPath, ["--input-type=module", "-e", DRIVER, argument], {
    env: { ...process.env, ...(fault === undefined ? {} : { PAWL_FAULT: fault }) },
    encoding: "utf8",
    timeout: DRIVER_TIMEOUT_MS,
  });
  return { finished: result.stdout === "finished", said: result.stderr };
}

function end(place: Scratch): unknown {
  const litter = (dir: string) => readdirSync(dir).filter((name) => name.includes("pawl-r1") || name.endsWith(".lock"));
  return {
    log: place.git("log", "--format=%s %T"),
    status: place.git("status", "--porcelain", "-b"),
    a: readFileSync(join(place.repo, "a.txt"), "utf8"),
    litter: litter(join(place.repo, ".git")),
    salvage: place.privateGit("rev-parse", "refs/pawl/r1/main/salvage/1^{tree}"),
    index: place.privateGit("rev-parse", "refs/pawl/r1/main/user-index^{tree}"),
    fsck: [place.git("fsck", "--full", "--no-dangling"), place.privateGit("fsck", "--full", "--no-dangling")],
  };
}

describe("a driver stopped at", () => {
  const points: [string, string][] = [
    ["spawn", "kill"],
    ["rename", "kill"],
    ["rename", "ENOSPC"],
    ...(FULL ? [["spawn", "EMFILE"] as [string, string]] : []),
  ];
  it.each(points)(
    "every %s by %s is followed by one that finishes with the same end (F1, F6, F10)",
    (point, how) => {
      let kills = 0;
      let passed = 0;
      for (let n = 1; ; n += STEP) {
        const place = copy();
        try {
          const first = drive(place, `${point}:${n}:${how}`);
          // What is done beside the run may fail unnoticed; a kill never goes unnoticed.
          if (first.finished && (how === "kill" || (passed += 1) > MAX_PASSED)) break;
          if (first.finished) continue;
          if (how !== "kill") expect(first.said).toMatch(/TerminalError|git could not be started/);
          kills += 1;
          const again = drive(place, undefined);
          expect([point, n, again]).toEqual([point, n, { finished: true, said: "" }]);
          expect([point, n, end(place)]).toEqual([point, n, expected]);
        } finally {
          place.remove();
        }
      }
      expect(kills).toBeGreaterThan(2);
      figure("F1, F6, F10 in the workspace", { fault: `${point} ${how}`, points: kills });
    },
    600_000,
  );
});
