import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AT,
  json,
  MANIFEST,
  protectedProject,
  ref,
  type ProtectedProject,
} from "../../test/fixtures/protected-project.ts";
import { withoutRoot } from "../../test/support/without-root.ts";

let under: ProtectedProject;

describe("an agent that", () => {
  beforeEach(() => {
    under = protectedProject();
  });
  afterEach(() => under.remove());

  it("does work beside it has only the rest undone", async () => {
    await under.start();
    under.place.write("package.json", json({ ...MANIFEST, version: "2.0.0", scripts: { test: "true", dev: "vite" } }));
    under.place.write("tests/a.js", "ok\n");
    under.place.write("tests/new.js", "assert new\n");
    const { tree, files } = await under.taken(1);
    expect(JSON.parse(under.at(tree, "package.json"))).toEqual({
      ...MANIFEST,
      version: "2.0.0",
      scripts: { test: "node --test", dev: "vite" },
    });
    expect(files.map(({ path }) => path)).toEqual(["package.json", "tests/new.js"]);
    expect(under.file("tests/new.js")).toBe("assert new\n");
  });

  it("hides an ignored file where a test was does not lose it", async () => {
    await under.start();
    rmSync(under.on("tests"), { recursive: true });
    under.place.write("tests/a.js/big.log", "ignored\n");
    const { kept } = await under.taken(1);
    expect(under.file("tests/a.js")).toBe("assert a\n");
    expect(under.at(ref(kept ?? ""), "tests/a.js/big.log")).toBe("ignored");
  });

  it("closes a folder cannot keep the base's tests from being judged", async () => {
    await under.start();
    under.place.write("tests/a.js", "ok\n");
    chmodSync(under.on("tests"), 0o555);
    using _ = withoutRoot(under.place.root);
    expect(() => under.place.write("tests/b.js", "")).toThrow("EACCES");
    const { tree } = await under.taken(1);
    chmodSync(under.on("tests"), 0o755);
    expect(under.at(tree, "tests/a.js")).toBe("assert a");
  });

  it("leaves what cannot be put back does not pass for a person, whoever looks next, until it can be", async () => {
    await under.start();
    under.place.write("tests/a.js", "ok\n");
    chmodSync(under.on("tests"), 0o555);
    {
      using _ = withoutRoot(under.place.root);
      expect((await under.taken(1)).warnings.join()).toContain("could not be put back in the workspace");
      for (const n of [2, 3]) {
        const looked = await under.taken(n, "user");
        expect([looked.followed, looked.protected?.map(({ path }) => path)]).toEqual([undefined, ["tests/a.js"]]);
        expect(under.at(looked.judged, "tests/a.js")).toBe("assert a");
      }
    }
    chmodSync(under.on("tests"), 0o755);
    await under.taken(4, "user");
    expect(under.file("tests/a.js")).toBe("assert a\n");
    under.place.write("tests/a.js", "stricter\n");
    expect((await under.taken(5, "user")).followed?.map(({ path }) => path)).toEqual(["tests/a.js"]);
  });

  it("makes more than a snapshot holds has its change of tests undone when that is there no more", async () => {
    await under.start({}, { maxSnapshotFiles: 20, isApart: true });
    under.place.write("tests/a.js", "ok\n");
    for (let n = 0; n < 21; n += 1) under.place.write(`cache/${n}`);
    expect((await under.taken(1)).refused).toContain('most of them in "cache/"');
    rmSync(under.on("cache"), { recursive: true });
    // A person who commits all there is has not looked at every line of it.
    under.place.git("commit", "-qam", "wip");
    const looked = await under.taken(2, "user");
    expect([looked.followed, looked.protected?.map(({ path }) => path)]).toEqual([undefined, ["tests/a.js"]]);
    expect(under.file("tests/a.js")).toBe("assert a\n");
    under.place.write("tests/a.js", "stricter\n");
    expect((await under.taken(3, "user")).followed?.map(({ path }) => path)).toEqual(["tests/a.js"]);
  });

  it("goes on writing while an earlier tree is handed over is not in its way, and keeps what it wrote", async () => {
    await under.start();
    under.place.write("src/sum.js", "one\n");
    const { judged } = await under.taken(1);
    under.place.write("src/sum.js", "two\n");
    await under.taken(2);
    under.place.write("src/sum.js", "three\n");
    const accepted = await under.workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    expect(accepted).toMatchObject({ branch: "pawl/task", warnings: [] });
    expect(under.place.git("show", "HEAD:src/sum.js")).toBe("one");
    expect(under.file("src/sum.js")).toBe("three\n");
  });
});

describe("an honest agent", () => {
  beforeEach(() => {
    under = protectedProject();
  });
  afterEach(() => under.remove());

  it.each<[string, () => void]>([
    ["renames product files", () => renameSync(under.on("src/sum.js"), under.on("src/add.js"))],
    [
      "adds a package with a manifest",
      () => under.place.write("packages/q/package.json", json({ scripts: { test: "x" } })),
    ],
    ["moves a package", () => renameSync(under.on("packages/p"), under.on("packages/q"))],
    [
      "changes versions and adds scripts",
      () =>
        under.place.write(
          "package.json",
          json({ ...MANIFEST, version: "3", scripts: { ...MANIFEST.scripts, dev: "x" } }),
        ),
    ],
    ["changes what is excepted", () => under.place.write("tests/free/x.js")],
    [
      "changes other sections",
      () => under.place.write("pyproject.toml", '[project]\nname = "y"\n[tool.pytest]\naddopts = "-q"\n'),
    ],
    ["does nothing", () => undefined],
  ])("%s: the judged tree is the tree", async (_, work) => {
    await under.start();
    work();
    const snapshot = await under.taken(1);
    expect(snapshot.protected).toBeUndefined();
    expect(snapshot.kept).toBeUndefined();
    expect(snapshot.judged).toBe(snapshot.tree);
    expect(snapshot.warnings).toEqual([]);
  });

  it("adds tests: they stay, and the base's can be run without them", async () => {
    const base = await under.start();
    under.place.write("tests/new.js", "assert new\n");
    under.place.write("src/add.js", "add\n");
    const first = await under.taken(1);
    expect(first.protected).toBeUndefined();
    expect(under.inTree(first.judged)).toContain("tests/new.js");
    expect(under.inTree(first.baseTests ?? "")).toEqual([...under.inTree(base.tree), "src/add.js"].toSorted());
    // It may go on with them.
    under.place.write("tests/new.js", "assert more\n");
    const second = await under.taken(2);
    expect(second.protected).toBeUndefined();
    expect(second.baseTests).toBe(first.baseTests);
    under.place.write("src/add.js", "add more\n");
    expect((await under.taken(3)).baseTests).not.toBe(first.baseTests);
    rmSync(under.on("tests/new.js"));
    expect((await under.taken(4)).baseTests).toBeUndefined();
  });

  it("adds the first tests of a project: there are none to be run without them", async () => {
    for (const path of ["tests", "src/sum.test.js"]) rmSync(under.on(path), { recursive: true });
    under.place.git("commit", "-qam", "no tests");
    await under.start();
    under.place.write("tests/new.js", "assert new\n");
    const { baseTests, protected: undone } = await under.taken(1);
    expect({ baseTests, undone }).toEqual({ baseTests: undefined, undone: undefined });
  });

  it("moves the tests where the run allows it; other protection stays", async () => {
    await under.start({ testChanges: "allow" });
    renameSync(under.on("tests"), under.on("test"));
    under.place.write("vitest.config.js", "none\n");
    const snapshot = await under.taken(1);
    expect(snapshot.testsChanged).toEqual([
      { path: "tests/a.js", how: "removed" },
      { path: "tests/deep/b.js", how: "removed" },
    ]);
    expect(snapshot.protected).toEqual([{ path: "vitest.config.js", how: "edited" }]);
    expect(snapshot.baseTests).toBeUndefined();
    expect(under.inTree(snapshot.judged)).toContain("test/deep/b.js");
    expect(existsSync(under.on("tests"))).toBe(false);
    // Later, too, it is said which tests are not the base's.
    under.place.write("src/sum.js", "more\n");
    expect((await under.taken(2)).testsChanged).toEqual(snapshot.testsChanged);
  });
});

describe("what a person changes", () => {
  beforeEach(() => {
    under = protectedProject();
  });
  afterEach(() => under.remove());

  it("between turns is protected from then on, and nothing else", async () => {
    await under.start();
    under.place.write("tests/mine.js", "assert mine\n");
    await under.taken(1);
    under.place.write("tests/a.js", "stricter\n");
    rmSync(under.on("tests/deep/b.js"));
    under.place.write("conftest.py", "fixtures\n");
    const theirs = await under.taken(2, "user");
    expect(theirs.protected).toBeUndefined();
    expect(theirs.followed?.map(({ path, how }) => `${path} ${how}`)).toEqual([
      "conftest.py added",
      "tests/a.js edited",
      "tests/deep/b.js removed",
    ]);
    expect(theirs.testsFollowed).toBe(true);
    // The agent's own new test is still none of the base's.
    expect(under.inTree(theirs.baseTests ?? "")).not.toContain("tests/mine.js");
    under.place.write("tests/a.js", "ok\n");
    under.place.write("tests/deep/b.js", "back\n");
    rmSync(under.on("conftest.py"));
    const agents = await under.taken(3);
    expect(agents.protected?.map(({ path, how }) => `${path} ${how}`)).toEqual([
      "conftest.py removed",
      "tests/a.js edited",
    ]);
    expect(under.file("tests/a.js")).toBe("stricter\n");
    expect(under.file("conftest.py")).toBe("fixtures\n");
  });

  it("in the agent's own tests, or beside what is protected in a manifest, is followed by nothing", async () => {
    await under.start();
    under.place.write("tests/mine.js", "assert mine\n");
    const first = await under.taken(1);
    under.place.write("tests/mine.js", "assert( mine )\n");
    under.place.write("package.json", json({ ...MANIFEST, version: "2.0.0" }));
    const second = await under.taken(2, "user");
    expect(second.followed).toBeUndefined();
    expect(under.inTree(second.baseTests ?? "")).toEqual(under.inTree(first.baseTests ?? ""));
    under.place.write("package.json", json({ ...MANIFEST, scripts: { test: "stricter" } }));
    const third = await under.taken(3, "user");
    expect(third.followed).toEqual([{ path: "package.json", how: "edited" }]);
    expect(third.testsFollowed).toBeUndefined();
    under.place.write("package.json", json(MANIFEST));
    await under.taken(4);
    expect(JSON.parse(under.file("package.json"))).toMatchObject({ scripts: { test: "stricter" } });
  });

  it("before the run, committed or not, is the base", async () => {
    under.place.write("tests/a.js", "uncommitted\n");
    await under.start({}, { allowDirty: true });
    under.place.write("tests/a.js", "ok\n");
    await under.taken(1);
    expect(under.file("tests/a.js")).toBe("uncommitted\n");
  });

  it("is guarded as it was when an older snapshot is restored", async () => {
    await under.start();
    under.place.write("src/sum.js", "one\n");
    await under.taken(1);
    under.place.write("tests/a.js", "stricter\n");
    await under.taken(2, "user");
    await under.workspace.restore(1, { salvage: "1", at: AT });
    under.place.write("src/sum.js", "two\n");
    const after = await under.workspace.snapshot(3, { parent: 1, message: "m", at: AT });
    expect(after.protected).toBeUndefined();
    expect(under.file("tests/a.js")).toBe("assert a\n");
  });
});

describe("a snapshot of a protected workspace", () => {
  beforeEach(() => {
    under = protectedProject();
  });
  afterEach(() => under.remove());

  it("is the same after a crash between putting back and the fact", async () => {
    await under.start();
    under.place.write("tests/a.js", "ok\n");
    under.place.write("src/sum.js", "better\n");
    const first = await under.taken(1);
    await under.reopen();
    const again = await under.taken(1);
    expect(again).toEqual(first);
    // And when something came meanwhile.
    under.place.write("tests/deep/b.js", "ok\n");
    const more = await under.taken(1);
    expect(more.protected?.map(({ path }) => path)).toEqual(["tests/a.js", "tests/deep/b.js"]);
    expect(under.place.privateGit("for-each-ref", "--format=%(refname:lstrip=4)", ref("protected"))).toBe(
      "protected/1\nprotected/1.2",
    );
  });

  it("costs no process where nothing protected changed", async () => {
    const [log, bin] = [join(under.place.root, "ran"), join(under.place.root, "bin")];
    const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    under.place.write("../bin/git", `#!/bin/sh\necho "$@" >> ${log}\nexec ${git} "$@"\n`);
    chmodSync(join(bin, "git"), 0o755);
    under.place.environment["PATH"] = `${bin}:${under.place.environment["PATH"]}`;
    await under.start();
    writeFileSync(log, "");
    under.place.write("src/sum.js", "better\n");
    await under.taken(1);
    const ran = readFileSync(log, "utf8");
    expect(ran).toMatch(/ls-files/);
    expect(ran).not.toMatch(/diff-tree|read-tree|index-info/);
  });
});
