import { describe, expect, it } from "vitest";
import { globs } from "./globs.ts";

describe("a pattern of paths", () => {
  it.each([
    ["infra", "infra/main.tf", true],
    ["infra/", "infra/a/b.tf", true],
    ["infra", "infrared.ts", false],
    ["infra", "app/infra/main.tf", true],
    ["/infra", "app/infra/main.tf", false],
    ["*.lock", "packages/a/yarn.lock", true],
    ["*.lock", "a.lock.ts", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/b/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/.b/c/a.ts", true],
    ["src/**", "src", false],
    [".github/**", ".github/workflows/ci.yml", true],
    ["**", ".env", true],
    ["*.{md,txt}", "docs/a.txt", true],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["a+(b).{c", "a+(b).{c", true],
    ["[x].ts", "x.ts", false],
  ])("%s on %s: %s", (pattern, path, matches) => {
    expect(globs([pattern])(path)).toBe(matches);
  });

  it("is one of several, and none matches nothing", () => {
    expect(globs(["a", "b"])("b")).toBe(true);
    expect(globs([])("b")).toBe(false);
  });
});
