/** A person who commits on the branch in the very moment of a hand-over: no commit takes work back, whoever is first. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openFor, scratch } from "../../test/fixtures/repository.ts";

const AT = 1_700_000_000_000;
const ROUNDS = 8;

/**
 * Waits in a tight loop until that file is another one or the other file is there, then commits what is staged; again
 * where git says that the branch has moved under its hands.
 */
const COMMITTER = `
  const { statSync, existsSync } = require("node:fs");
  const { spawnSync } = require("node:child_process");
  const [file, end] = process.argv.slice(1);
  const seen = () => statSync(file, { throwIfNoEntry: false })?.ino;
  const before = seen();
  process.stdout.write("ready");
  while (seen() === before && !existsSync(end));
  for (let tries = 0; tries < 20; tries += 1)
    if (spawnSync("git", ["commit", "-q", "--allow-empty", "-m", "a person's"]).status === 0) break;
`;

it.each([
  ["the branch moves", "refs/heads/pawl/task"],
  ["the index is there", "index"],
])("a commit as soon as %s takes none of the work back", async (_, name) => {
  const place = scratch();
  onTestFinished(() => place.remove());
  const workspace = await openFor(place);
  onTestFinished(async () => await workspace.close());
  await workspace.prepare();
  const end = join(place.root, "end");
  for (let n = 1; n <= ROUNDS; n += 1) {
    place.write(`work-${n}.txt`, `${n}\n`);
    const taken = await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: `s${n}`, at: AT + n });
    const args = ["-e", COMMITTER, join(place.repo, ".git", name), end];
    const committer = spawn(process.execPath, args, { cwd: place.repo, stdio: ["ignore", "pipe", "ignore"] });
    const closed = once(committer, "close");
    await once(committer.stdout, "data");
    const accepted = await workspace.accept({ tree: taken.judged, message: `work ${n}`, at: AT + n, snapshot: n });
    place.write("../end", "");
    await closed;
    rmSync(end);
    expect(accepted.conflict).toBeUndefined();
    expect(place.git("ls-tree", "--name-only", "pawl/task")).toContain(`work-${n}.txt`);
  }
  const subjects = place.git("log", "--format=%s", "main..pawl/task").split("\n");
  expect(subjects.filter((subject) => subject === "a person's")).toHaveLength(ROUNDS);
  expect(place.git("log", "--diff-filter=D", "--format=%s", "main..pawl/task")).toBe("");
  expect(place.git("fsck", "--no-dangling")).toBe("");
});
