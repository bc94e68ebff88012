import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { scratch } from "../../test/fixtures/repository.ts";
import { putIndex } from "./user-index.ts";

it("stays as it is when somebody has committed since the branch was moved, which is looked for under git's lock", async () => {
  const place = scratch();
  onTestFinished(() => place.remove());
  const gitDir = join(place.repo, ".git");
  const [index, lock, older] = ["index", "index.lock", "older"].map((name) => join(gitDir, name)) as [
    string,
    string,
    string,
  ];
  copyFileSync(index, older);
  place.write("mine.txt");
  place.git("add", "-A");
  place.git("commit", "-qm", "mine");
  const before = readFileSync(index);
  const locked: boolean[] = [];
  const about = { gitDir, workspace: place.repo, run: "r1" };
  const isCurrent = async (): Promise<boolean> => locked.push(existsSync(lock)) > 1;
  expect(await putIndex(older, { ...about, isCurrent })).toContain("somebody has just committed");
  expect(readFileSync(index)).toEqual(before);
  expect(await putIndex(older, { ...about, isCurrent })).toBeUndefined();
  expect(readFileSync(index)).toEqual(readFileSync(older));
  expect([locked, existsSync(lock)]).toEqual([[true, true], false]);
});
