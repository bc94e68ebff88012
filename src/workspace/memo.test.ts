/** Notes and tasks are read and written as plain files of the workspace, whatever an agent puts in their place. */
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { TerminalError } from "../errors.ts";
import { readMemo, writeMemo } from "./memo.ts";

const MAX = 1_000;
const SECRET = "what lies outside";
let root: string;
let outside: string;

beforeEach(() => {
  root = tempDir("memo");
  outside = tempDir("outside");
  writeFileSync(join(outside, "notes.md"), SECRET);
});

const read = (path: string, maxBytes = MAX): ReturnType<typeof readMemo> => readMemo(root, { path, maxBytes });

/** Puts something else where the file, or a folder on its way, should be. */
const TRAPS: [string, string, () => void][] = [
  ["a link to a file", "notes.md", () => symlinkSync(join(outside, "notes.md"), join(root, "notes.md"))],
  ["a link that leads nowhere", "notes.md", () => symlinkSync(join(outside, "new.md"), join(root, "notes.md"))],
  ["a link to a folder", "docs/notes.md", () => symlinkSync(outside, join(root, "docs"))],
  [
    "a link to a folder further up",
    "a/b/notes.md",
    () => {
      mkdirSync(join(outside, "b"));
      writeFileSync(join(outside, "b", "notes.md"), SECRET);
      symlinkSync(outside, join(root, "a"));
    },
  ],
  ["a directory", "notes.md", () => mkdirSync(join(root, "notes.md"))],
  ["a file as a folder", "a/notes.md", () => writeFileSync(join(root, "a"), "")],
  ["a FIFO", "notes.md", () => execFileSync("mkfifo", [join(root, "notes.md")])],
  ["a link to a device", "notes.md", () => symlinkSync("/dev/zero", join(root, "notes.md"))],
];
const OUTSIDE = [
  "../outside.md",
  "a/../../x.md",
  "/etc/hostname",
  "",
  ".",
  "a/",
  ".git/config",
  "sub/.git/config",
  ".GIT/x",
  "a\0b",
];

describe("a file that is not UTF-8", () => {
  it.each([true, false])("is cut so that what is sent keeps the limit in bytes (tail: %s)", (tail) => {
    writeFileSync(join(root, "notes.md"), Buffer.concat([Buffer.alloc(900, 0xff), Buffer.from("end ä")]));
    const found = readMemo(root, { path: "notes.md", maxBytes: MAX, tail });
    expect(Buffer.byteLength(found?.text ?? "")).toBeLessThanOrEqual(MAX);
    expect(Buffer.byteLength(found?.text ?? "")).toBeGreaterThan(MAX - 4);
    expect(found?.text.endsWith("end ä")).toBe(tail);
    // That it is not whole can be seen.
    expect(found?.bytes).toBeGreaterThan(MAX);
  });
});

describe("reading", () => {
  it("gives a text file whole, and where it is too long its first or last bytes with the size of all", () => {
    mkdirSync(join(root, "a"));
    writeFileSync(join(root, "a", "notes.md"), "0123456789");
    expect(read("a/notes.md")).toEqual({ text: "0123456789", bytes: 10 });
    expect(read("./a//notes.md", 4)).toEqual({ text: "0123", bytes: 10 });
    expect(readMemo(root, { path: "a/notes.md", maxBytes: 4, tail: true })).toEqual({ text: "6789", bytes: 10 });
    expect(read("none.md")).toBeUndefined();
    expect(read("none/none.md")).toBeUndefined();
  });

  it("cuts no character in two, at either end", () => {
    const text = "aé☃🎈".repeat(5);
    writeFileSync(join(root, "notes.md"), text);
    for (let maxBytes = 0; maxBytes <= Buffer.byteLength(text); maxBytes += 1) {
      for (const tail of [false, true]) {
        const got = readMemo(root, { path: "notes.md", maxBytes, tail })?.text ?? "none";
        expect(tail ? text.endsWith(got) : text.startsWith(got)).toBe(true);
        expect(maxBytes - Buffer.byteLength(got)).toBeLessThan(4);
      }
    }
  });

  it.each(TRAPS)("takes %s for no file", (_, path, set) => {
    set();
    expect(read(path)).toBeUndefined();
  });

  it("takes a device or a socket for no file", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "s.md"), resolve));
    expect(read("s.md")).toBeUndefined();
    await new Promise((resolve) => server.close(resolve));
    expect(readMemo("/dev", { path: "zero", maxBytes: MAX })).toBeUndefined();
  });

  it.each(OUTSIDE)("takes %j for no path of the workspace", (path) => {
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".git", "config"), SECRET);
    expect(read(path)).toBeUndefined();
  });

  it("reads no more than it may of a file that claims to be huge", () => {
    writeFileSync(join(root, "notes.md"), "first");
    truncateSync(join(root, "notes.md"), 2 ** 40);
    const head = read("notes.md", 5);
    expect(head).toEqual({ text: "first", bytes: 2 ** 40 });
    expect(readMemo(root, { path: "notes.md", maxBytes: 10, tail: true })?.text).toHaveLength(10);
  });
});

describe("writing", () => {
  it("makes or replaces a file, with the folders it needs, and leaves nothing beside it", () => {
    writeMemo(root, { path: "a/b/notes.md", text: "one" });
    writeMemo(root, { path: "a/b/notes.md", text: "two" });
    expect(readFileSync(join(root, "a/b/notes.md"), "utf8")).toBe("two");
    expect(readdirSync(join(root, "a/b"))).toEqual(["notes.md"]);
  });

  it.each(TRAPS)("refuses %s, and nothing outside changes", (_, path, set) => {
    set();
    expect(() => writeMemo(root, { path, text: "mine" })).toThrow(TerminalError);
    expect(readFileSync(join(outside, "notes.md"), "utf8")).toBe(SECRET);
    expect(existsSync(join(outside, "new.md"))).toBe(false);
    expect(readdirSync(outside).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it.each(OUTSIDE)("refuses %j", (path) => {
    expect(() => writeMemo(root, { path, text: "mine" })).toThrow(TerminalError);
  });
});

/** Swaps a folder for a link to outside and back, as fast as it can, until ended. */
const SWAPPER = `
const { linkSync, rmSync, symlinkSync, mkdirSync } = require("node:fs");
const [file, outside, at] = process.argv.slice(1);
console.log("ready");
const until = Date.now() + 20_000;
while (Date.now() < until) {
  try { rmSync(at, { recursive: true, force: true }); symlinkSync(outside, at); } catch {}
  try { rmSync(at, { recursive: true, force: true }); mkdirSync(at); linkSync(file, at + "/notes.md"); } catch {}
}`;
const RACES = 10_000;
/** Against a hang alone: when the swapping has ended, the folder is there. */
const RACES_LIMIT_MS = 120_000;

describe.skipIf(process.platform !== "linux")("while an agent swaps the folder for a link and back", () => {
  it("never reads or writes what lies outside", async () => {
    const at = join(root, "docs");
    writeFileSync(join(root, "file"), "inside");
    const child = spawn(process.execPath, ["-e", SWAPPER, join(root, "file"), outside, at], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      const seen = new Set<string | undefined>();
      let written = 0;
      const until = performance.now() + RACES_LIMIT_MS;
      const allMet = (): boolean => seen.has("inside") && written > 0;
      for (let n = 0; n < RACES || (!allMet() && performance.now() < until); n += 1) {
        seen.add(read("docs/notes.md")?.text);
        try {
          if (n % 40 === 0) {
            writeMemo(root, { path: "docs/new.md", text: "mine" });
            written += 1;
          }
        } catch {
          // The folder was a link, or not there, at this moment.
        }
      }
      expect([...seen].filter((text) => text !== undefined && text !== "inside")).toEqual([]);
      expect(seen.has("inside")).toBe(true);
      expect(written).toBeGreaterThan(0);
      expect(readdirSync(outside)).toEqual(["notes.md"]);
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("close", resolve));
    }
    expect(lstatSync(outside).isDirectory()).toBe(true);
    rmSync(root, { recursive: true, force: true });
  });
});
