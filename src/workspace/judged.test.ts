import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Snapshot, Workspace } from "../ports.ts";
import type { ProtectSpec } from "../spec.ts";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";

const AT = 1_700_000_000_000;
const PROTECT: ProtectSpec = {
  tests: ["**/{test,tests}", "**/*.test.js"],
  config: ["**/conftest.py", "**/.npmrc", "**/vitest.config.*", "**/node_modules", ".github/workflows", "**/.cargo"],
  keys: { "**/package.json": ["scripts", "jest"], "**/pyproject.toml": ["tool.pytest*"] },
  except: ["tests/free"],
  testChanges: "undo",
};
const MANIFEST = { name: "x", scripts: { test: "node --test" }, version: "1.0.0" };
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

let place: Scratch;
let workspace: Workspace;

function project(): void {
  place = scratch();
  place.write("src/sum.js", "sum\n");
  place.write("src/sum.test.js", "assert\n");
  place.write("tests/a.js", "assert a\n");
  place.write("tests/deep/b.js", "assert b\n");
  place.write("vitest.config.js", "all\n");
  place.write("package.json", json(MANIFEST));
  place.write("pyproject.toml", '[project]\nname = "x"\n[tool.pytest]\naddopts = "-q"\n');
  place.write("packages/p/package.json", json({ ...MANIFEST, name: "p" }));
  place.write("packages/p/index.js", "p\n");
  place.git("add", "-A");
  place.git("commit", "-qm", "project");
}
async function done(): Promise<void> {
  await workspace.close();
  place.remove();
}

async function start(protect: Partial<ProtectSpec> = {}): Promise<Snapshot> {
  workspace = await openFor(place, { protect: { ...PROTECT, ...protect } });
  await workspace.prepare();
  return await workspace.snapshot(0, { parent: null, message: "base", at: AT, by: "user" });
}
const taken = async (n: number, by: "agent" | "user" = "agent"): Promise<Snapshot> =>
  await workspace.snapshot(n, { parent: n - 1, message: `m${n}`, at: AT + n, by });
const on = (path: string): string => join(place.repo, path);
const file = (path: string): string => readFileSync(on(path), "utf8");
const inTree = (tree: string): string[] => place.privateGit("ls-tree", "-r", "--name-only", tree).split("\n");
const at = (tree: string, path: string): string => place.privateGit("show", `${tree}:${path}`);
const ref = (name: string): string => `refs/pawl/r1/main/${name}`;

/** An agent's trick, and what has to be said of it. */
const TRICKS: Readonly<Record<string, { play: () => void; undone: string[] }>> = {
  "edits a test": { play: () => place.write("tests/a.js", "ok\n"), undone: ["tests/a.js edited"] },
  "empties a test": { play: () => place.write("src/sum.test.js", ""), undone: ["src/sum.test.js edited"] },
  "deletes a test": { play: () => rmSync(on("tests/a.js")), undone: ["tests/a.js removed"] },
  "deletes all tests": {
    play: () => rmSync(on("tests"), { recursive: true }),
    undone: ["tests/a.js removed", "tests/deep/b.js removed"],
  },
  "renames a test out of the way": {
    play: () => renameSync(on("tests/a.js"), on("tests/a.js.off")),
    undone: ["tests/a.js removed"],
  },
  "renames the folder to other letters": {
    play: () => renameSync(on("tests"), on("Tests")),
    undone: ["tests/a.js removed", "tests/deep/b.js removed"],
  },
  "makes a test executable": { play: () => chmodSync(on("tests/a.js"), 0o755), undone: ["tests/a.js edited"] },
  "makes a link of a test": {
    play: () => {
      rmSync(on("tests/a.js"));
      symlinkSync("../src/sum.js", on("tests/a.js"));
    },
    undone: ["tests/a.js edited"],
  },
  "makes a link of the folder": {
    play: () => {
      rmSync(on("tests"), { recursive: true });
      place.write("other/a.js", "ok\n");
      symlinkSync("other", on("tests"));
    },
    undone: ["tests added", "tests/a.js removed", "tests/deep/b.js removed"],
  },
  "makes a file of the folder": {
    play: () => {
      rmSync(on("tests"), { recursive: true });
      place.write("tests", "none\n");
    },
    undone: ["tests added", "tests/a.js removed", "tests/deep/b.js removed"],
  },
  "makes a folder of a test": {
    play: () => {
      rmSync(on("tests/a.js"));
      place.write("tests/a.js/index.js", "ok\n");
    },
    undone: ["tests/a.js removed", "tests/a.js/index.js added"],
  },
  "makes a repository of the folder": {
    play: () => {
      rmSync(on("tests"), { recursive: true });
      mkdirSync(on("tests"));
      execFileSync("git", ["init", "-q"], { cwd: on("tests"), env: place.environment });
      place.write("tests/a.js", "ok\n");
    },
    undone: ["tests/a.js edited", "tests/deep/b.js removed"],
  },
  "configures the runner": {
    play: () => place.write("vitest.config.js", "none\n"),
    undone: ["vitest.config.js edited"],
  },
  "removes the runner's configuration": {
    play: () => rmSync(on("vitest.config.js")),
    undone: ["vitest.config.js removed"],
  },
  "adds configuration": {
    play: () => {
      place.write("tests/conftest.py", "exit\n");
      place.write(".npmrc", "node-options=--require ./evil.js\n");
      place.write("packages/p/vitest.config.ts", "none\n");
    },
    undone: [".npmrc added", "packages/p/vitest.config.ts added", "tests/conftest.py added"],
  },
  "adds configuration in other letters": {
    play: () => place.write("ConfTest.py", "x\n"),
    undone: ["ConfTest.py added"],
  },
  "adds a link where configuration is looked for": {
    play: () => {
      place.write("conf/config.toml", "runner = 'true'\n");
      symlinkSync("conf", on(".cargo"));
    },
    undone: [".cargo added"],
  },
  "brings dependencies along": {
    play: () => {
      place.write(".gitignore", "*.log\n");
      place.write("node_modules/vitest/index.js", "ok\n");
    },
    undone: ["node_modules/vitest/index.js added"],
  },
  "replaces a script": {
    play: () => place.write("package.json", json({ ...MANIFEST, scripts: { test: "exit 0" } })),
    undone: ["package.json edited"],
  },
  "breaks package.json": { play: () => place.write("package.json", "{"), undone: ["package.json edited"] },
  "removes package.json": { play: () => rmSync(on("package.json")), undone: ["package.json removed"] },
  "removes a package's package.json only": {
    play: () => rmSync(on("packages/p/package.json")),
    undone: ["packages/p/package.json removed"],
  },
  "makes a link of package.json": {
    play: () => {
      rmSync(on("package.json"));
      place.write("other.json", json({ scripts: { test: "exit 0" } }));
      symlinkSync("other.json", on("package.json"));
    },
    undone: ["package.json edited"],
  },
  "changes a section": {
    play: () => place.write("pyproject.toml", '[project]\nname = "x"\n[tool.pytest]\naddopts = "--co"\n'),
    undone: ["pyproject.toml edited"],
  },
};

describe("an agent that", () => {
  let base: Snapshot;
  let n = 0;
  beforeAll(async () => {
    project();
    base = await start();
  });
  afterAll(done);
  const next = async (): Promise<Snapshot> => await taken((n += 1));
  /** Nobody minds these. */
  const MADE = ["other", "conf", "Tests", "other.json"];

  it.each(Object.keys(TRICKS))("%s gets nothing by it, and its version is kept", async (name) => {
    const { play, undone } = TRICKS[name] ?? { play: () => undefined, undone: [] };
    play();
    place.write("src/sum.js", `${name}\n`);
    const snapshot = await next();
    expect((snapshot.protected ?? []).map(({ path, how }) => `${path} ${how}`).toSorted()).toEqual(undone.toSorted());
    expect(snapshot.kept).toBe(`protected/${n}`);
    expect(snapshot.judged).toBe(snapshot.tree);
    const paths = ["tests/a.js", "tests/deep/b.js", "src/sum.test.js", "vitest.config.js", "package.json"];
    const entries = (tree: string): string => place.privateGit("ls-tree", "-r", tree, "--", ...paths);
    expect(entries(snapshot.tree)).toBe(entries(base.tree));
    // In the workspace, too, and once it is put back there is nothing more to do.
    expect(file("tests/a.js")).toBe("assert a\n");
    expect(lstatSync(on("tests")).isDirectory()).toBe(true);
    expect(file("src/sum.js")).toBe(`${name}\n`);
    const again = await next();
    expect(again).toMatchObject({ tree: snapshot.tree, fileCount: 0 });
    expect(again.protected).toBeUndefined();
    expect(place.privateGit("rev-parse", `${ref(`protected/${n - 1}`)}^{tree}`)).not.toBe(snapshot.tree);
    for (const path of MADE) rmSync(on(path), { recursive: true, force: true });
    place.write(".gitignore", "node_modules/\n*.log\n");
    await next();
  });

  it("tries all of that has what was judged delivered, and a clean status", async () => {
    place.write("tests/a.js", "ok\n");
    const { judged } = await next();
    const accepted = await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: n });
    expect(place.git("rev-parse", `${accepted.commit}^{tree}`)).toBe(judged);
    expect(place.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  });
});

describe("an agent that", () => {
  beforeEach(project);
  afterEach(done);

  it("does work beside it has only the rest undone", async () => {
    await start();
    place.write("package.json", json({ ...MANIFEST, version: "2.0.0", scripts: { test: "true", dev: "vite" } }));
    place.write("tests/a.js", "ok\n");
    place.write("tests/new.js", "assert new\n");
    const { tree, files } = await taken(1);
    expect(JSON.parse(at(tree, "package.json"))).toEqual({
      ...MANIFEST,
      version: "2.0.0",
      scripts: { test: "node --test", dev: "vite" },
    });
    expect(files.map(({ path }) => path)).toEqual(["package.json", "tests/new.js"]);
    expect(file("tests/new.js")).toBe("assert new\n");
  });

  it("hides an ignored file where a test was does not lose it", async () => {
    await start();
    rmSync(on("tests"), { recursive: true });
    place.write("tests/a.js/big.log", "ignored\n");
    const { kept } = await taken(1);
    expect(file("tests/a.js")).toBe("assert a\n");
    expect(at(ref(kept ?? ""), "tests/a.js/big.log")).toBe("ignored");
  });

  it("closes a folder cannot keep the base's tests from being judged", async () => {
    await start();
    place.write("tests/a.js", "ok\n");
    chmodSync(on("tests"), 0o555);
    const { tree } = await taken(1);
    chmodSync(on("tests"), 0o755);
    expect(at(tree, "tests/a.js")).toBe("assert a");
  });
});

describe("an honest agent", () => {
  beforeEach(project);
  afterEach(done);

  it.each<[string, () => void]>([
    ["renames product files", () => renameSync(on("src/sum.js"), on("src/add.js"))],
    ["adds a package with a manifest", () => place.write("packages/q/package.json", json({ scripts: { test: "x" } }))],
    ["moves a package", () => renameSync(on("packages/p"), on("packages/q"))],
    [
      "changes versions and adds scripts",
      () =>
        place.write("package.json", json({ ...MANIFEST, version: "3", scripts: { ...MANIFEST.scripts, dev: "x" } })),
    ],
    ["changes what is excepted", () => place.write("tests/free/x.js")],
    [
      "changes other sections",
      () => place.write("pyproject.toml", '[project]\nname = "y"\n[tool.pytest]\naddopts = "-q"\n'),
    ],
    ["does nothing", () => undefined],
  ])("%s: the judged tree is the tree", async (_, work) => {
    await start();
    work();
    const snapshot = await taken(1);
    expect(snapshot.protected).toBeUndefined();
    expect(snapshot.kept).toBeUndefined();
    expect(snapshot.judged).toBe(snapshot.tree);
    expect(snapshot.warnings).toEqual([]);
  });

  it("adds tests: they stay, and the base's can be run without them", async () => {
    const base = await start();
    place.write("tests/new.js", "assert new\n");
    place.write("src/add.js", "add\n");
    const first = await taken(1);
    expect(first.protected).toBeUndefined();
    expect(inTree(first.judged)).toContain("tests/new.js");
    expect(inTree(first.baseTests ?? "")).toEqual([...inTree(base.tree), "src/add.js"].toSorted());
    // It may go on with them.
    place.write("tests/new.js", "assert more\n");
    const second = await taken(2);
    expect(second.protected).toBeUndefined();
    expect(second.baseTests).toBe(first.baseTests);
    place.write("src/add.js", "add more\n");
    expect((await taken(3)).baseTests).not.toBe(first.baseTests);
    rmSync(on("tests/new.js"));
    expect((await taken(4)).baseTests).toBeUndefined();
  });

  it("moves the tests where the run allows it; other protection stays", async () => {
    await start({ testChanges: "allow" });
    renameSync(on("tests"), on("test"));
    place.write("vitest.config.js", "none\n");
    const snapshot = await taken(1);
    expect(snapshot.testsChanged).toEqual([
      { path: "tests/a.js", how: "removed" },
      { path: "tests/deep/b.js", how: "removed" },
    ]);
    expect(snapshot.protected).toEqual([{ path: "vitest.config.js", how: "edited" }]);
    expect(snapshot.baseTests).toBeUndefined();
    expect(inTree(snapshot.judged)).toContain("test/deep/b.js");
    expect(existsSync(on("tests"))).toBe(false);
    // Later, too, it is said which tests are not the base's.
    place.write("src/sum.js", "more\n");
    expect((await taken(2)).testsChanged).toEqual(snapshot.testsChanged);
  });
});

describe("what a person changes", () => {
  beforeEach(project);
  afterEach(done);

  it("between turns is protected from then on, and nothing else", async () => {
    await start();
    place.write("tests/mine.js", "assert mine\n");
    await taken(1);
    place.write("tests/a.js", "stricter\n");
    rmSync(on("tests/deep/b.js"));
    place.write("conftest.py", "fixtures\n");
    const theirs = await taken(2, "user");
    expect(theirs.protected).toBeUndefined();
    expect(theirs.followed?.map(({ path, how }) => `${path} ${how}`)).toEqual([
      "conftest.py added",
      "tests/a.js edited",
      "tests/deep/b.js removed",
    ]);
    // The agent's own new test is still none of the base's.
    expect(inTree(theirs.baseTests ?? "")).not.toContain("tests/mine.js");
    place.write("tests/a.js", "ok\n");
    place.write("tests/deep/b.js", "back\n");
    rmSync(on("conftest.py"));
    const agents = await taken(3);
    expect(agents.protected?.map(({ path, how }) => `${path} ${how}`)).toEqual([
      "conftest.py removed",
      "tests/a.js edited",
    ]);
    expect(file("tests/a.js")).toBe("stricter\n");
    expect(file("conftest.py")).toBe("fixtures\n");
  });

  it("before the run, committed or not, is the base", async () => {
    place.write("tests/a.js", "uncommitted\n");
    workspace = await openFor(place, { protect: PROTECT, allowDirty: true });
    await workspace.prepare();
    await workspace.snapshot(0, { parent: null, message: "base", at: AT, by: "user" });
    place.write("tests/a.js", "ok\n");
    await taken(1);
    expect(file("tests/a.js")).toBe("uncommitted\n");
  });

  it("is guarded as it was when an older snapshot is restored", async () => {
    await start();
    place.write("src/sum.js", "one\n");
    await taken(1);
    place.write("tests/a.js", "stricter\n");
    await taken(2, "user");
    await workspace.restore(1, { salvage: "1", at: AT });
    place.write("src/sum.js", "two\n");
    const after = await workspace.snapshot(3, { parent: 1, message: "m", at: AT });
    expect(after.protected).toBeUndefined();
    expect(file("tests/a.js")).toBe("assert a\n");
  });
});

describe("a snapshot of a protected workspace", () => {
  beforeEach(project);
  afterEach(done);

  it("is the same after a crash between putting back and the fact", async () => {
    await start();
    place.write("tests/a.js", "ok\n");
    place.write("src/sum.js", "better\n");
    const first = await taken(1);
    await workspace.close();
    workspace = await openFor(place, { protect: PROTECT });
    const again = await taken(1);
    expect(again).toEqual(first);
    // And when something came meanwhile.
    place.write("tests/deep/b.js", "ok\n");
    const more = await taken(1);
    expect(more.protected?.map(({ path }) => path)).toEqual(["tests/a.js", "tests/deep/b.js"]);
    expect(place.privateGit("for-each-ref", "--format=%(refname:lstrip=4)", ref("protected"))).toBe(
      "protected/1\nprotected/1.2",
    );
  });

  it("costs no process where nothing protected changed", async () => {
    const [log, bin] = [join(place.root, "ran"), join(place.root, "bin")];
    const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    place.write("../bin/git", `#!/bin/sh\necho "$@" >> ${log}\nexec ${git} "$@"\n`);
    chmodSync(join(bin, "git"), 0o755);
    place.environment["PATH"] = `${bin}:${place.environment["PATH"]}`;
    await start();
    writeFileSync(log, "");
    place.write("src/sum.js", "better\n");
    await taken(1);
    const ran = readFileSync(log, "utf8");
    expect(ran).toMatch(/ls-files/);
    expect(ran).not.toMatch(/diff-tree|read-tree|index-info/);
  });
});
