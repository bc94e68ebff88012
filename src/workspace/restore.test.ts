import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
let place: Scratch;
let workspace: Workspace;
beforeEach(async () => {
  place = scratch();
  workspace = await openFor(place);
  await workspace.prepare();
  place.write("work.txt", "1\n");
  await workspace.snapshot(1, { parent: null, message: "s1", at: AT });
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

const read = (path: string): string => readFileSync(join(place.repo, path), "utf8");

it("files that a rule hid which is not there any more stay, and nothing is broken off for them", async () => {
  place.write(".gitignore", "node_modules/\n*.log\n*.o\nbuild/\n");
  for (const path of ["build/out", "my.o"]) place.write(path, "kept by nobody\n");
  place.write("work.txt", "2\n");
  await workspace.snapshot(2, { parent: 1, message: "s2", at: AT });
  await workspace.restore(1, { salvage: "0", at: AT });
  expect([read("work.txt"), read(".gitignore")]).toEqual(["1\n", "node_modules/\n*.log\n"]);
  expect([read("my.o"), read("build/out")]).toEqual(["kept by nobody\n", "kept by nobody\n"]);
  rmSync(join(place.repo, "my.o"));
  place.write("more.txt");
  const { files } = await workspace.snapshot(3, { parent: 1, message: "s3", at: AT });
  expect(files.map(({ path }) => path)).toEqual(["build/out", "more.txt"]);
});

it("what a person had ignored before the run is none of its work, whoever takes the rule away: it stays on the disk alone", async () => {
  await workspace.close();
  place.remove();
  place = scratch();
  place.write("my.log", "password\n");
  place.write("node_modules/old.js", "old\n");
  workspace = await openFor(place);
  await workspace.prepare();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const paths = async (n: number, parent: number | null) => {
    const { files, warnings } = await workspace.snapshot(n, { parent, message: `s${n}`, at: AT });
    return { files: files.map(({ path }) => path), warnings };
  };
  place.write("work.txt", "1\n");
  expect(await paths(1, null)).toEqual({ files: ["work.txt"], warnings: [] });
  place.write(".gitignore", "*.o\n");
  for (const path of ["new.log", "node_modules/new.js"]) place.write(path, "the agent's\n");
  expect(await paths(2, 1)).toEqual({
    files: [".gitignore", "new.log", "node_modules/new.js"],
    warnings: [expect.stringMatching(/^"my\.log", "node_modules\/old\.js" was ignored before the run and is left out/)],
  });
  await workspace.restore(1, { salvage: "0", at: AT });
  expect([read("my.log"), read("node_modules/old.js")]).toEqual(["password\n", "old\n"]);
  place.write(".gitignore", "*.o\n");
  place.git("add", "my.log");
  expect((await paths(3, 1)).files).toEqual([".gitignore", "my.log"]);
  place.write("my.log", "changed\n");
  expect((await paths(4, 3)).files).toEqual(["my.log"]);
});
