import * as fc from "fast-check";
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import "../../test/support/seeded.ts";
import { protectedProject, type ProtectedProject } from "../../test/fixtures/protected-project.ts";
import type { Snapshot } from "../ports.ts";

const RUNS = 12;
const CHANGES = 6;
const BASE_PATHS = ["tests/a.js", "tests/deep/b.js", "src/sum.test.js", "vitest.config.js"];
const PATHS = [
  ...BASE_PATHS,
  ...(
    "tests tests/deep src tests/new.js Tests/a.js conftest.py tests/conftest.py .npmrc .cargo .cargo/config.toml " +
    "src/sum.js src/other.js packages/p packages/p/package.json node_modules/x/i.js tests/a.js/below.js pyproject.toml " +
    "package.json a.log"
  ).split(" "),
];
const path = fc.constantFrom(...PATHS);
const change = fc.oneof(
  fc.record({
    do: fc.constant("write" as const),
    path,
    text: fc.constantFrom("", "{}", "x\n", "[tool.pytest]\nx=1\n"),
  }),
  fc.record({ do: fc.constant("remove" as const), path }),
  fc.record({ do: fc.constant("link" as const), path, to: fc.constantFrom("src", "../src", "nowhere", "src/sum.js") }),
  fc.record({ do: fc.constant("move" as const), path, to: path }),
);

let under: ProtectedProject;
let base: Snapshot;
let n = 0;
beforeAll(async () => {
  under = protectedProject();
  base = await under.start();
});
afterAll(() => under.remove());

/** What cannot be done, because of what is there, is left. */
function play(one: typeof change extends fc.Arbitrary<infer C> ? C : never): void {
  const at = under.on(one.path);
  try {
    if (one.do === "remove") return rmSync(at, { recursive: true, force: true });
    if (one.do === "move") return renameSync(at, under.on(one.to));
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) rmSync(at, { recursive: true });
    mkdirSync(dirname(at), { recursive: true });
    if (one.do === "link") symlinkSync(one.to, at);
    else writeFileSync(at, one.text);
  } catch {
    // A file where a folder would have to be, a folder moved into itself.
  }
}

it("whatever an agent does: the base's protected files are judged, nothing is added to them, and judging twice changes nothing", async () => {
  const entries = (tree: string): string => under.place.privateGit("ls-tree", "-r", tree, "--", ...BASE_PATHS);
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: CHANGES }), async (changes) => {
      changes.forEach(play);
      const judged = await under.taken((n += 1));
      expect(entries(judged.judged)).toBe(entries(base.judged));
      expect(judged.tree).toBe(judged.judged);
      const names = under.inTree(judged.judged);
      expect(names.filter((name) => /(^|\/)(conftest\.py|\.npmrc|node_modules)|^\.cargo/.test(name))).toEqual([]);
      expect(names.filter((name) => name.startsWith("tests/a.js/"))).toEqual([]);
      const again = await under.taken((n += 1));
      expect(again).toMatchObject({ tree: judged.tree, fileCount: 0 });
      expect(again.protected).toBeUndefined();
      for (const path of BASE_PATHS) expect(existsSync(under.on(path))).toBe(true);
      // What was undone is kept whole.
      if (judged.kept !== undefined)
        expect(under.place.privateGit("cat-file", "-t", `refs/pawl/r1/main/${judged.kept}`)).toBe("commit");
      await under.workspace.restore(0, { salvage: `s${n}`, at: 1_700_000_000_000 });
    }),
    { numRuns: RUNS },
  );
});
