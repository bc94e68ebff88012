import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plainSolve } from "../../test/support/solve-spec.ts";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import type { CodeRoom } from "../ports/executor.ts";
import { codeRoom, plainFiles } from "./code-room.ts";

function room(files: Readonly<Record<string, string>>): { workspace: string; outside: string; room: CodeRoom } {
  const root = tempDir("code-room");
  const [workspace, outside] = [join(root, "work"), join(root, "outside")];
  for (const path of [workspace, outside]) mkdirSync(path);
  writeFiles(workspace, files);
  writeFiles(outside, { "keep.txt": "keep" });
  const given = [{ path: "data.csv", bytes: 3, sha256: "", head: "" }];
  const about = { workspace, fence: { code: undefined }, environment: {}, executor: undefined };
  return { workspace, outside, room: codeRoom({ ...plainSolve, files: given }, about) };
}
const of = (step: string | undefined, ...needs: string[]) => ({ step, needs, turn: 2, isFirst: false });

describe("the folder of a step", () => {
  it("has what was given and what the steps it needs have written, and keeps what it wrote itself", async () => {
    const { workspace, room: code } = room({ "data.csv": "a,b", "steps/one/deep/part.txt": "1", "other.txt": "x" });
    expect(await code.folder(of(undefined))).toBe(workspace);
    const folder = await code.folder(of("two", "one"));
    expect(plainFiles(folder).paths.toSorted()).toEqual(["data.csv", "deep/part.txt"]);
    writeFileSync(join(folder, "data.csv"), "mine");
    expect(readFileSync(join(await code.folder({ ...of("two", "one"), turn: 3 }), "data.csv"), "utf8")).toBe("mine");
    expect(readFileSync(join(await code.folder({ ...of("two"), isFirst: true }), "data.csv"), "utf8")).toBe("a,b");
  });

  it("is as it was before a program that nobody saw the end of, and without what another step of that name left", async () => {
    const { workspace, room: code } = room({
      "data.csv": "a,b",
      "steps/one/part.txt": "1",
      "steps/two/part.txt": "old",
    });
    const read = (folder: string): string => readFileSync(join(folder, "part.txt"), "utf8");
    const first = await code.folder({ ...of("two", "one"), isFirst: true });
    expect(read(first)).toBe("1");
    writeFileSync(join(first, "part.txt"), "1 2");
    await code.folder({ ...of("two", "one"), turn: 3 });
    writeFileSync(join(first, "part.txt"), "1 2 half");
    expect(read(await code.folder({ ...of("two", "one"), turn: 3 }))).toBe("1 2");
    writeFileSync(join(first, "part.txt"), "1 2 3");
    expect(read(await code.folder({ ...of("two", "one"), turn: 4 }))).toBe("1 2 3");
    expect(readdirSync(workspace)).toEqual(["data.csv", "steps"]);
  });

  it("is never outside, whatever links a program has left", async () => {
    const { workspace, outside, room: code } = room({ "data.csv": "a,b", "steps/one/deep/part.txt": "1" });
    mkdirSync(join(workspace, "steps/two"));
    symlinkSync(outside, join(workspace, "steps/two/deep"));
    await code.folder(of("two", "one"));
    expect(readFileSync(join(workspace, "steps/two/deep/part.txt"), "utf8")).toBe("1");
    symlinkSync(outside, join(workspace, "steps/three"));
    await code.folder({ ...of("three", "one"), isFirst: true });
    symlinkSync("/etc/hostname", join(workspace, "steps/one/secret"));
    expect(readdirSync(await code.folder(of("four", "one")))).not.toContain("secret");
    expect(readdirSync(outside)).toEqual(["keep.txt"]);
  });

  it("is made anew in the place of a link that stands for all of them", async () => {
    const { workspace, outside, room: code } = room({ "data.csv": "a,b" });
    symlinkSync(outside, join(workspace, "steps"));
    await code.folder(of("one"));
    expect(lstatSync(join(workspace, "steps")).isSymbolicLink()).toBe(false);
    expect(readdirSync(outside)).toEqual(["keep.txt"]);
  });
});

it("way is made for the answer where a program left a folder or a link under its name", () => {
  const { workspace, outside, room: code } = room({ "answer.txt/inside": "x", "answer.json": "{}" });
  symlinkSync(outside, join(workspace, "solution.py"));
  code.makeWay(["answer.txt", "answer.json", "solution.py", "missing"]);
  expect(readdirSync(workspace)).toEqual(["answer.json"]);
  expect(readdirSync(outside)).toEqual(["keep.txt"]);
});
