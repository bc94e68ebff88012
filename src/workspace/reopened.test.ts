import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { protectedProject, type ProtectedProject } from "../../test/fixtures/protected-project.ts";
import { withoutRoot } from "../../test/support/without-root.ts";
import type { Snapshot } from "../ports.ts";

let under: ProtectedProject;
beforeEach(() => {
  under = protectedProject();
});
afterEach(() => under.remove());

const modeOf = (path: string): number => statSync(under.on(path)).mode & 0o777;
const undone = ({ protected: all = [] }: Snapshot): string[] => all.map(({ path, how }) => `${path} ${how}`);

it.each(["root", "nobody special"])(
  "tests that an agent closed can be read again, and are named, for %s",
  async (who) => {
    await under.start();
    chmodSync(under.on("tests/a.js"), 0o000);
    chmodSync(under.on("tests/deep"), 0o000);
    under.place.write("src/sum.js", "work\n");
    const user = who === "root" ? undefined : withoutRoot(under.place.root);
    const taken = await under.taken(1);
    user?.[Symbol.dispose]();
    expect(undone(taken)).toEqual(["tests/a.js edited", "tests/deep edited"]);
    expect([modeOf("tests/a.js") & 0o600, modeOf("tests/deep") & 0o700]).toEqual([0o600, 0o700]);
    expect(under.at(taken.judged, "tests/deep/b.js")).toBe("assert b");
    expect(taken.warnings.join("\n")).toMatch(/"tests\/a\.js".*could not be read/);
    expect(undone(await under.taken(2))).toEqual([]);
  },
);

it("what an agent closed elsewhere is left as it is", async () => {
  await under.start();
  chmodSync(under.on("src/sum.js"), 0o200);
  expect(undone(await under.taken(1))).toEqual([]);
  expect(modeOf("src/sum.js")).toBe(0o200);
});

it("a .git that an agent made among tests is moved into pawl's state, and named; one of before stays", async () => {
  const made = (folder: string): void => {
    mkdirSync(under.on(`${folder}/.git`));
    writeFileSync(under.on(`${folder}/.git/HEAD`), "ref: refs/heads/x\n");
  };
  made("tests/deep");
  await under.start();
  made("tests");
  writeFileSync(under.on("src/.git"), "gitdir: /elsewhere\n");
  const taken = await under.taken(1);
  expect(undone(taken)).toEqual(["src/.git added", "tests/.git added"]);
  expect(["tests/.git", "src/.git", "tests/deep/.git"].map((path) => existsSync(under.on(path)))).toEqual([
    false,
    false,
    true,
  ]);
  const [, aside = ""] = /moved to (\S+)/.exec(taken.warnings.join("\n")) ?? [];
  expect(readdirSync(join(aside, "..")).toSorted()).toHaveLength(2);
  expect(undone(await under.taken(2))).toEqual([]);
});

it("nothing behind a link that an agent made is opened or moved", async () => {
  await under.start();
  const other = join(under.place.root, "other");
  mkdirSync(join(other, ".git"), { recursive: true });
  writeFileSync(join(other, "a.js"), "theirs\n");
  chmodSync(join(other, "a.js"), 0o000);
  rmSync(under.on("tests"), { recursive: true });
  symlinkSync(other, under.on("tests"));
  await under.taken(1);
  expect([existsSync(join(other, ".git")), statSync(join(other, "a.js")).mode & 0o777]).toEqual([true, 0]);
  expect(under.file("tests/a.js")).toBe("assert a\n");
});
