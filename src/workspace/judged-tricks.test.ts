import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Snapshot } from "../ports.ts";
import {
  AT,
  json,
  MANIFEST,
  protectedProject,
  ref,
  type ProtectedProject,
} from "../../test/fixtures/protected-project.ts";

let under: ProtectedProject;

/** An agent's trick, and what has to be said of it. */
const TRICKS: Readonly<Record<string, { play: () => void; undone: string[] }>> = {
  "edits a test": { play: () => under.place.write("tests/a.js", "ok\n"), undone: ["tests/a.js edited"] },
  "empties a test": { play: () => under.place.write("src/sum.test.js", ""), undone: ["src/sum.test.js edited"] },
  "deletes a test": { play: () => rmSync(under.on("tests/a.js")), undone: ["tests/a.js removed"] },
  "deletes all tests": {
    play: () => rmSync(under.on("tests"), { recursive: true }),
    undone: ["tests/a.js removed", "tests/deep/b.js removed"],
  },
  "renames a test out of the way": {
    play: () => renameSync(under.on("tests/a.js"), under.on("tests/a.js.off")),
    undone: ["tests/a.js removed"],
  },
  "renames the folder to other letters": {
    play: () => renameSync(under.on("tests"), under.on("Tests")),
    undone: ["tests/a.js removed", "tests/deep/b.js removed"],
  },
  "makes a test executable": { play: () => chmodSync(under.on("tests/a.js"), 0o755), undone: ["tests/a.js edited"] },
  "makes a link of a test": {
    play: () => {
      rmSync(under.on("tests/a.js"));
      symlinkSync("../src/sum.js", under.on("tests/a.js"));
    },
    undone: ["tests/a.js edited"],
  },
  "makes a link of the folder": {
    play: () => {
      rmSync(under.on("tests"), { recursive: true });
      under.place.write("other/a.js", "ok\n");
      symlinkSync("other", under.on("tests"));
    },
    undone: ["tests added", "tests/a.js removed", "tests/deep/b.js removed"],
  },
  "makes a file of the folder": {
    play: () => {
      rmSync(under.on("tests"), { recursive: true });
      under.place.write("tests", "none\n");
    },
    undone: ["tests added", "tests/a.js removed", "tests/deep/b.js removed"],
  },
  "makes a folder of a test": {
    play: () => {
      rmSync(under.on("tests/a.js"));
      under.place.write("tests/a.js/index.js", "ok\n");
    },
    undone: ["tests/a.js removed", "tests/a.js/index.js added"],
  },
  "makes a repository of the folder": {
    play: () => {
      rmSync(under.on("tests"), { recursive: true });
      mkdirSync(under.on("tests"));
      execFileSync("git", ["init", "-q"], { cwd: under.on("tests"), env: under.place.environment });
      under.place.write("tests/a.js", "ok\n");
    },
    undone: ["tests/.git added", "tests/a.js edited", "tests/deep/b.js removed"],
  },
  "configures the runner": {
    play: () => under.place.write("vitest.config.js", "none\n"),
    undone: ["vitest.config.js edited"],
  },
  "removes the runner's configuration": {
    play: () => rmSync(under.on("vitest.config.js")),
    undone: ["vitest.config.js removed"],
  },
  "adds configuration": {
    play: () => {
      under.place.write("tests/conftest.py", "exit\n");
      under.place.write(".npmrc", "node-options=--require ./evil.js\n");
      under.place.write("packages/p/vitest.config.ts", "none\n");
    },
    undone: [".npmrc added", "packages/p/vitest.config.ts added", "tests/conftest.py added"],
  },
  "adds configuration in other letters": {
    play: () => under.place.write("ConfTest.py", "x\n"),
    undone: ["ConfTest.py added"],
  },
  "adds a link where configuration is looked for": {
    play: () => {
      under.place.write("conf/config.toml", "runner = 'true'\n");
      symlinkSync("conf", under.on(".cargo"));
    },
    undone: [".cargo added"],
  },
  "brings dependencies along": {
    play: () => {
      under.place.write(".gitignore", "*.log\n");
      under.place.write("node_modules/vitest/index.js", "ok\n");
    },
    undone: ["node_modules/vitest/index.js added"],
  },
  "replaces a script": {
    play: () => under.place.write("package.json", json({ ...MANIFEST, scripts: { test: "exit 0" } })),
    undone: ["package.json edited"],
  },
  "breaks package.json": { play: () => under.place.write("package.json", "{"), undone: ["package.json edited"] },
  "removes package.json": { play: () => rmSync(under.on("package.json")), undone: ["package.json removed"] },
  "removes a package's package.json only": {
    play: () => rmSync(under.on("packages/p/package.json")),
    undone: ["packages/p/package.json removed"],
  },
  "makes a link of package.json": {
    play: () => {
      rmSync(under.on("package.json"));
      under.place.write("other.json", json({ scripts: { test: "exit 0" } }));
      symlinkSync("other.json", under.on("package.json"));
    },
    undone: ["package.json edited"],
  },
  "changes a section": {
    play: () => under.place.write("pyproject.toml", '[project]\nname = "x"\n[tool.pytest]\naddopts = "--co"\n'),
    undone: ["pyproject.toml edited"],
  },
};

describe("an agent that", () => {
  let base: Snapshot;
  let n = 0;
  beforeAll(async () => {
    under = protectedProject();
    base = await under.start();
  });
  afterAll(() => under.remove());
  const next = async (): Promise<Snapshot> => await under.taken((n += 1));
  /** Nobody minds these. */
  const MADE = ["other", "conf", "Tests", "other.json"];

  it.each(Object.keys(TRICKS))("%s gets nothing by it, and its version is kept", async (name) => {
    const { play, undone } = TRICKS[name] ?? { play: () => undefined, undone: [] };
    play();
    under.place.write("src/sum.js", `${name}\n`);
    const snapshot = await next();
    expect((snapshot.protected ?? []).map(({ path, how }) => `${path} ${how}`).toSorted()).toEqual(undone.toSorted());
    expect(snapshot.kept).toBe(`protected/${n}`);
    expect(snapshot.judged).toBe(snapshot.tree);
    const paths = ["tests/a.js", "tests/deep/b.js", "src/sum.test.js", "vitest.config.js", "package.json"];
    const entries = (tree: string): string => under.place.privateGit("ls-tree", "-r", tree, "--", ...paths);
    expect(entries(snapshot.tree)).toBe(entries(base.tree));
    // In the workspace, too, and once it is put back there is nothing more to do.
    expect(under.file("tests/a.js")).toBe("assert a\n");
    expect(lstatSync(under.on("tests")).isDirectory()).toBe(true);
    expect(under.file("src/sum.js")).toBe(`${name}\n`);
    const again = await next();
    expect(again).toMatchObject({ tree: snapshot.tree, fileCount: 0 });
    expect(again.protected).toBeUndefined();
    expect(under.place.privateGit("rev-parse", `${ref(`protected/${n - 1}`)}^{tree}`)).not.toBe(snapshot.tree);
    for (const path of MADE) rmSync(under.on(path), { recursive: true, force: true });
    under.place.write(".gitignore", "node_modules/\n*.log\n");
    await next();
  });

  it("tries all of that has what was judged delivered, and a clean status", async () => {
    under.place.write("tests/a.js", "ok\n");
    const { judged } = await next();
    const accepted = await under.workspace.accept({ tree: judged, message: "m", at: AT, snapshot: n });
    expect(under.place.git("rev-parse", `${accepted.commit}^{tree}`)).toBe(judged);
    expect(under.place.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  });
});
