/** What a person has in the index when work is handed over: nothing of it is lost, and what is told of it is true. */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, specFor, type Scratch } from "../../test/fixtures/repository.ts";
import type { Accepted, Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
let place: Scratch;
let workspace: Workspace;

beforeEach(async () => {
  place = scratch();
  workspace = await openFor(place);
  await workspace.prepare();
  place.write("first.txt", "1\n");
  await iterate(1);
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function iterate(n: number): Promise<Accepted> {
  const taken = await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: `s${n}`, at: AT + n });
  return await workspace.accept({ tree: taken.judged, message: `iteration ${n}`, at: AT + n, snapshot: n });
}
const status = () => place.git("status", "--porcelain", "-b");
const kept = (path: string, n = 2) => place.privateGit("show", `refs/pawl/r1/main/lost/index-${n}:${path}`);

/** As nobody's file has it when the work is handed over. */
function stage(path: string, content = "staged\n"): void {
  place.write(path, content);
  place.git("add", "--", path);
  place.write(path, "on disk\n");
}

describe("a file that is to be added (git add -N)", () => {
  it("has no content in the index that could be told of", async () => {
    place.write("later.txt", "a person's\n");
    place.git("add", "-N", "--", "later.txt");
    expect((await iterate(2)).warnings).toEqual([]);
    expect(status()).toBe("## pawl/task");
    expect(place.git("show", "pawl/task:later.txt")).toBe("a person's");
  });

  it("is not told of beside one that was staged", async () => {
    stage("a.txt");
    place.write("later.txt", "a person's\n");
    place.git("add", "-N", "--", "later.txt");
    const { warnings } = await iterate(2);
    expect(warnings).toEqual(['"a.txt" was staged with content that the work has not: kept as lost/index-2']);
    expect(kept("a.txt")).toBe("staged");
  });
});

describe("an index that git keeps in two files (core.splitIndex)", () => {
  it("is kept like any other", async () => {
    place.git("config", "core.splitIndex", "true");
    place.git("update-index", "--split-index");
    stage("a.txt");
    const { warnings } = await iterate(2);
    expect(warnings).toEqual(['"a.txt" was staged with content that the work has not: kept as lost/index-2']);
    expect(kept("a.txt")).toBe("staged");
    expect(status()).toBe("## pawl/task");
    place.write("a.txt", "on disk again\n");
    expect((await iterate(3)).warnings).toEqual([]);
  });
});

describe("an index that is a link to a file elsewhere", () => {
  it("is left with all that is staged in it, and that is said", async () => {
    const index = join(place.repo, ".git/index");
    renameSync(index, join(place.root, "index"));
    symlinkSync(join(place.root, "index"), index);
    stage("a.txt");
    const accepted = await iterate(2);
    expect(accepted.commit).toBe(place.git("rev-parse", "pawl/task"));
    expect(accepted.warnings).toEqual([expect.stringMatching(/index is a link, and left as it is.*git reset/)]);
    expect(lstatSync(index).isSymbolicLink()).toBe(true);
    expect(place.git("show", ":a.txt")).toBe("staged");
    place.git("reset", "-q");
    expect(status()).toBe("## pawl/task");
  });

  it("is left when a run starts from what is staged in it, too", async () => {
    await workspace.close();
    const index = join(place.repo, ".git/index");
    renameSync(index, join(place.root, "index"));
    symlinkSync(join(place.root, "index"), index);
    stage("a.txt");
    workspace = await openFor(place, { run: "r2", branch: "pawl/other", allowDirty: true });
    await workspace.prepare();
    const { warnings } = await workspace.snapshot(0, { parent: null, message: "base", at: AT, by: "user" });
    expect(warnings).toEqual([expect.stringMatching(/index is a link, and left as it is/)]);
    expect(lstatSync(index).isSymbolicLink()).toBe(true);
    expect(place.git("show", "HEAD:a.txt")).toBe("on disk");
  });
});

describe("marks that a person puts on files while a run works", () => {
  const marks = (...paths: string[]) => place.git("ls-files", "-v", "-z", "--", ...paths).split("\0");
  const ODD = "dir/two\nlines.txt";
  const work = async (n: number) => {
    place.write("work.txt", `${n}\n`);
    expect((await iterate(n)).warnings).toEqual([]);
    expect(place.git("diff", "--cached", "--name-only")).toBe("");
  };
  beforeEach(async () => {
    place.write(ODD);
    await iterate(2);
  });

  it.each([
    ["skip-worktree", "S"],
    ["assume-unchanged", "h"],
  ])("%s stays, in every hand-over and for every driver, until a person takes it off", async (mark, shown) => {
    place.git("update-index", `--${mark}`, "--", "a.txt", ODD);
    for (const n of [3, 4]) await work(n);
    expect(marks("a.txt", ODD, "work.txt")).toEqual([`${shown} a.txt`, `${shown} ${ODD}`, "H work.txt", ""]);
    workspace = await openFor(place);
    await work(5);
    expect(marks("a.txt", ODD)).toEqual([`${shown} a.txt`, `${shown} ${ODD}`, ""]);
    place.git("update-index", `--no-${mark}`, "--", "a.txt");
    await work(6);
    expect(marks("a.txt", ODD)).toEqual(["H a.txt", `${shown} ${ODD}`, ""]);
  });

  it("both of them, and on a file that the work removes, are no hindrance", async () => {
    for (const mark of ["skip-worktree", "assume-unchanged"])
      place.git("update-index", `--${mark}`, "--", "a.txt", "first.txt");
    rmSync(join(place.repo, "first.txt"));
    await work(3);
    expect(marks("a.txt", "first.txt")).toEqual(["s a.txt", ""]);
  });

  it.each(["skip-worktree", "assume-unchanged"])(
    "%s keeps what they write there from then on out of a fenced run's work, until it is taken off",
    async (mark) => {
      workspace = await openFor(place, { isApart: true });
      place.git("update-index", `--${mark}`, "--", "a.txt");
      await work(3);
      place.write("a.txt", "password\n");
      await work(4);
      expect(place.git("show", "pawl/task:a.txt")).toBe("one");
      place.git("update-index", `--no-${mark}`, "--", "a.txt");
      await work(5);
      expect(place.git("show", "pawl/task:a.txt")).toBe("password");
    },
  );

  it("and those of before the run, taken off meanwhile, are off", async () => {
    place.git("update-index", "--skip-worktree", "--", "a.txt");
    workspace = await openFor(place, { run: "r2", branch: "pawl/other" });
    await workspace.prepare();
    place.git("update-index", "--no-skip-worktree", "--", "a.txt");
    place.write("work.txt");
    await iterate(1);
    expect(marks("a.txt")).toEqual(["H a.txt", ""]);
  });
});

describe("a sparse checkout that a person makes while a run works", () => {
  const ODD = "out/two\nlines.txt";
  const work = async (n: number) => {
    place.write("in/work.txt", `${n}\n`);
    const { warnings } = await iterate(n);
    expect(warnings).toEqual([]);
  };
  const delivered = () => place.git("ls-tree", "-r", "-z", "--name-only", "pawl/task").split("\0");
  beforeEach(async () => {
    for (const path of ["in/a.txt", "out/b.txt", ODD]) place.write(path);
    await iterate(2);
  });

  it.each([[["--cone"]], [["--no-cone"]], [["--cone", "--sparse-index"]]])(
    "deletes nothing that it takes away (%j), for any driver, and brings back what was there",
    async (how) => {
      place.git("sparse-checkout", "set", ...how, "in");
      expect(existsSync(join(place.repo, "out"))).toBe(false);
      await work(3);
      workspace = await openFor(place);
      await work(4);
      expect(delivered()).toEqual(expect.arrayContaining(["out/b.txt", ODD]));
      expect(status()).toBe("## pawl/task");
      place.git("sparse-checkout", "disable");
      expect(status()).toBe("## pawl/task");
      place.write("out/b.txt", "changed\n");
      await work(5);
      expect(place.git("show", "pawl/task:out/b.txt")).toBe("changed");
      rmSync(join(place.repo, ODD));
      await work(6);
      expect(delivered()).not.toContain(ODD);
    },
  );

  it("does not hide what the work deletes", async () => {
    place.git("sparse-checkout", "set", "--cone", "in");
    rmSync(join(place.repo, "in/a.txt"));
    await work(3);
    expect(delivered()).not.toContain("in/a.txt");
    expect(delivered()).toContain("out/b.txt");
  });
});

/** Hands over the given tree and prints what came of it. */
const DRIVER = `
const { module, request, asked } = JSON.parse(process.argv[1]);
const { openWorkspace } = await import(module);
const workspace = await openWorkspace(request);
process.stdout.write(JSON.stringify(await workspace.accept(asked)));
`;

function acceptElsewhere(asked: Parameters<Workspace["accept"]>[0], fault: string): { isKilled: boolean } {
  const { stateDir, environment, repo } = place;
  const request = { spec: specFor(repo), run: "r1", lane: "main", stateDir, environment };
  const argument = JSON.stringify({ module: new URL("open.ts", import.meta.url).href, request, asked });
  const env = { ...process.env, PAWL_FAULT: fault };
  const { signal, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", DRIVER, argument], { env });
  if (signal === null) expect(JSON.parse(stdout.toString())).toMatchObject({ branch: "pawl/task" });
  return { isKilled: signal === "SIGKILL" };
}

describe("what was staged when a driver was killed", () => {
  it.each(["spawn", "rename"])(
    "before any %s of a hand-over is kept by the next one, which tells of it once",
    async (point) => {
      for (let n = 2, isKilled = true; isKilled; n += 1) {
        stage("a.txt", `staged ${n}\n`);
        const { judged } = await workspace.snapshot(n, { parent: n - 1, message: "s", at: AT });
        const asked = { tree: judged, message: `iteration ${n}`, at: AT + n, snapshot: n };
        ({ isKilled } = acceptElsewhere(asked, `${point}:${n - 1}:kill`));
        workspace = await openFor(place);
        const words = `"a.txt" was staged with content that the work has not: kept as lost/index-${n}`;
        expect([n, (await workspace.accept(asked)).warnings]).toEqual([n, [words]]);
        expect(kept("a.txt", n)).toBe(`staged ${n}`);
        expect((await workspace.accept({ ...asked, at: AT + 60_000 })).warnings).toEqual([]);
      }
      expect(place.privateGit("fsck", "--full", "--no-dangling")).toBe("");
    },
    120_000,
  );

  it("and taken back since then is told of where it was kept whole, and nothing is left half copied", async () => {
    const told = [];
    for (let n = 2, isKilled = true; isKilled; n += 1) {
      stage("a.txt", `staged ${n}\n`);
      const { judged } = await workspace.snapshot(n, { parent: n - 1, message: "s", at: AT });
      const asked = { tree: judged, message: `iteration ${n}`, at: AT + n, snapshot: n };
      ({ isKilled } = acceptElsewhere(asked, `spawn:${n - 1}:kill`));
      place.git("reset", "-q");
      workspace = await openFor(place);
      const { warnings } = await workspace.accept(asked);
      if (warnings.length > 0) expect(kept("a.txt", n)).toBe(`staged ${n}`);
      told.push(warnings.length);
      expect([n, place.privateGit("fsck", "--full", "--no-dangling")]).toEqual([n, ""]);
    }
    expect(new Set(told)).toEqual(new Set([0, 1]));
  }, 120_000);
});
