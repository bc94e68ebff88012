import { describe, expect, it } from "vitest";
import { globMatcher, spelledOut } from "./glob.ts";

const matches = (pattern: string, path: string): boolean => globMatcher([pattern])(path);

describe("a pattern", () => {
  it.each([
    ["a.txt", "a.txt"],
    ["*.py", "x.py"],
    ["**/*.test.js", "x.test.js"],
    ["**/*.test.js", "a/b/x.test.js"],
    ["**/tests", "tests"],
    ["**/tests", "pkg/tests/deep/x.py"],
    ["tests/**", "tests/a/b"],
    ["src/?.c", "src/a.c"],
    ["**/*{.,_}{test,spec}.{js,ts}", "a/b_spec.ts"],
    ["**/.npmrc{,.*}", "x/.npmrc"],
    ["**/conftest.py", "Tests/ConfTest.PY"],
    ["a+b(c)[d].txt", "a+b(c)[d].txt"],
    ["half{open", "half{open"],
    ["**/ä*.py", "x/ärger.py"],
    ["**", "anything/at all"],
  ])("%s means %s", (pattern, path) => expect(matches(pattern, path)).toBe(true));

  it.each([
    ["a.txt", "b/a.txt"],
    ["a.txt", "axtxt"],
    ["*.py", "d/x.py"],
    ["**/tests", "mytests/x"],
    ["src/?.c", "src/ab.c"],
    ["src/?.c", "src//.c"],
    ["**/*{.,_}{test,spec}.{js,ts}", "contest.ts"],
    ["tests/**", "src/tests/x"],
  ])("%s does not mean %s", (pattern, path) => expect(matches(pattern, path)).toBe(false));

  it("is not there: nothing is meant", () => expect(globMatcher([])("a")).toBe(false));
});

it.each([
  ["conftest.py", "**/conftest.py"],
  ["docs/", "**/docs"],
  ["/docs/", "docs"],
  ["./a/b", "a/b"],
  ["a/b/**", "a/b"],
  ["**", "**"],
  ["**/x", "**/x"],
])("people write %s and mean %s", (written, meant) => expect(spelledOut(written)).toBe(meant));
