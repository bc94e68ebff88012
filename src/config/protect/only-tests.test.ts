import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { HELPERS, PRODUCTS } from "../../../test/support/layouts-of-tests.ts";
import { detectProtect } from "./detect.ts";

type Files = Readonly<Record<string, string>>;

/** Which of its own files a repository protects. */
function protectedIn(files: Files, commands: readonly string[] = []): string[] {
  const paths = Object.keys(files);
  const list = (patterns: readonly string[]): string[] => paths.filter(globMatcher(patterns));
  const { tests, config } = detectProtect(
    {
      names: new Set(paths.map((path) => path.split("/")[0] ?? "")),
      manifests: [],
      read: (path) => files[path],
      holds: (patterns, isOne = () => true) => list(patterns).some(isOne),
      list,
    },
    { commands, protect: [], unprotect: [], allowTestChanges: false, pathFolders: [] },
  );
  return list([...tests, ...config]);
}

describe("what only tests use is protected like them", () => {
  it.each(Object.entries(HELPERS))("%s", (_, { files, helpers = [], product = [], commands }) => {
    const found = protectedIn(files, commands);
    expect({
      missed: helpers.filter((path) => !found.includes(path)),
      taken: product.filter((path) => found.includes(path)),
    }).toEqual({
      missed: [],
      taken: [],
    });
  });
});

describe("what the product is, or uses, is the agent's to change", () => {
  it.each(Object.entries(PRODUCTS))("%s", (_, { files, product = [], commands }) => {
    const found = protectedIn(files, commands);
    expect(product.filter((path) => found.includes(path))).toEqual([]);
  });
});
