/** What every Workspace must keep. Run by each implementation with a factory that makes a fresh one. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Workspace } from "../../src/ports.ts";

const AT = 1_700_000_000_000;

export interface WorkspaceUnderTest {
  /** The same workspace again, as a later driver opens it. */
  open(): Promise<Workspace>;
  remove(): void;
}

/** The fresh workspace holds the committed file `a.txt` with "one\n". */
export function workspaceContract(name: string, make: () => WorkspaceUnderTest): void {
  describe(`${name} keeps the contract of Workspace`, () => {
    let under: WorkspaceUnderTest;
    let workspace: Workspace;
    const file = (path: string) => join(workspace.path, path);

    beforeEach(async () => {
      under = make();
      workspace = await under.open();
    });
    afterEach(async () => {
      await workspace.close();
      under.remove();
    });

    it("prepares twice with the same result", async () => {
      const base = await workspace.prepare();
      expect(await workspace.prepare()).toEqual(base);
      expect(await (await under.open()).prepare()).toEqual(base);
    });

    it("takes an untouched workspace for the base's tree, with no change", async () => {
      const base = await workspace.prepare();
      const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      expect(taken).toMatchObject({ tree: base.tree, files: [], fileCount: 0, added: 0, removed: 0, warnings: [] });
    });

    it("counts what changed against the parent", async () => {
      await workspace.prepare();
      writeFileSync(file("a.txt"), "one\ntwo\n");
      await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      writeFileSync(file("new.txt"), "x\ny\n");
      rmSync(file("a.txt"));
      const second = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
      expect(second.files).toEqual([
        { path: "a.txt", status: "D", added: 0, removed: 2 },
        { path: "new.txt", status: "A", added: 2, removed: 0 },
      ]);
      expect(second).toMatchObject({ fileCount: 2, added: 2, removed: 2 });
    });

    it("takes the same snapshot twice as the same commit", async () => {
      await workspace.prepare();
      writeFileSync(file("a.txt"), "changed\n");
      const first = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      const again = await (await under.open()).snapshot(1, { parent: null, message: "m", at: AT });
      expect(again).toEqual(first);
    });

    it("accepts the same tree twice as the same commit", async () => {
      await workspace.prepare();
      writeFileSync(file("a.txt"), "changed\n");
      const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      const request = { tree: judged, message: "did it", at: AT, snapshot: 1 };
      const first = await workspace.accept(request);
      expect(first.commit).not.toBeNull();
      expect(await (await under.open()).accept(request)).toEqual(first);
    });

    it("restores a snapshot and gives back what was there", async () => {
      await workspace.prepare();
      writeFileSync(file("a.txt"), "good\n");
      const good = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      writeFileSync(file("a.txt"), "bad\n");
      writeFileSync(file("extra"), "kept\n");
      const restored = await workspace.restore(1, { salvage: "1", at: AT });
      expect(restored).toEqual({ tree: good.tree, salvage: "salvage/1" });
      expect(readFileSync(file("a.txt"), "utf8")).toBe("good\n");
      expect(existsSync(file("extra"))).toBe(false);
    });

    it("gives checks a plain directory with exactly the tree", async () => {
      await workspace.prepare();
      writeFileSync(file("a.txt"), "judged\n");
      const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      writeFileSync(file("a.txt"), "written later\n");
      const tree = await workspace.verifyTree(judged);
      expect(tree.tree).toBe(judged);
      expect(readFileSync(join(tree.path, "a.txt"), "utf8")).toBe("judged\n");
      expect(existsSync(join(tree.path, ".git"))).toBe(false);
      await tree.release();
    });

    it("removes what a check left and changed before the next check", async () => {
      await workspace.prepare();
      const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      const first = await workspace.verifyTree(judged);
      writeFileSync(join(first.path, "a.txt"), "spoiled\n");
      writeFileSync(join(first.path, "left.log"), "x");
      await first.release();
      const second = await workspace.verifyTree(judged);
      expect(readFileSync(join(second.path, "a.txt"), "utf8")).toBe("one\n");
      expect(existsSync(join(second.path, "left.log"))).toBe(false);
      await second.release();
    });

    it("tells what a file of a tree held, whatever its name", async () => {
      await workspace.prepare();
      writeFileSync(file("a [1].txt"), "one\n");
      const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      expect(await workspace.fileAt(judged, "a [1].txt", 100)).toBe("one\n");
      expect(await workspace.fileAt(judged, "a [1].txt", 2)).toBe("on");
      expect(await workspace.fileAt(judged, "none.txt", 100)).toBeUndefined();
    });

    it("plants a failure in the base's tests alone, in a tree of its own, the same every time", async () => {
      await workspace.prepare();
      writeFileSync(file("a.test.js"), 'test("a", () => {});\n');
      const { tree: base } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      writeFileSync(file("b.test.js"), 'test("b", () => {});\n');
      const { judged } = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
      const about = { alsoIn: base, tests: ["**/*.test.js"], except: [], as: "test" as const };
      const planted = await workspace.planted(judged, about);
      expect(planted?.tree).not.toBe(judged);
      expect(await workspace.planted(judged, about)).toEqual(planted);
      expect((await workspace.planted(judged, { ...about, as: "file" }))?.tree).not.toBe(planted?.tree);
      const changed = await workspace.changes(judged, planted?.tree ?? "");
      expect(changed.map(({ path, removed }) => ({ path, removed }))).toEqual([{ path: "a.test.js", removed: 0 }]);
      expect(readFileSync(file("a.test.js"), "utf8")).toBe('test("a", () => {});\n');
      expect(await workspace.planted(judged, { ...about, except: ["a.test.js"] })).toBeUndefined();
      expect(await workspace.planted(judged, { ...about, tests: ["**/*.txt"] })).toBeUndefined();
    });

    it("cuts a diff to the asked size", async () => {
      const base = await workspace.prepare();
      writeFileSync(file("a.txt"), "line\n".repeat(1000));
      const { tree } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      const whole = await workspace.diff(base.tree, tree, 1_000_000);
      expect(whole).toContain("+line");
      const cut = await workspace.diff(base.tree, tree, 500);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(500);
      expect(await workspace.diff(tree, tree, 500)).toBe("");
    });
  });
}
