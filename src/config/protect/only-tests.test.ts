import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { HELPERS, PRODUCTS } from "../../../test/support/layouts-of-tests.ts";
import { detectProtect } from "./detect.ts";

type Files = Readonly<Record<string, string>>;

/** Which of its own files a repository protects. */
function lookedAt(files: Files, commands: readonly string[] = []) {
  const paths = Object.keys(files);
  const list = (patterns: readonly string[]): string[] => paths.filter(globMatcher(patterns));
  const {
    tests,
    config,
    doubtful = [],
  } = detectProtect(
    {
      names: new Set(paths.map((path) => path.split("/")[0] ?? "")),
      manifests: [],
      read: (path) => files[path],
      holds: (patterns, isOne = () => true) => list(patterns).some(isOne),
      list,
    },
    { commands, protect: [], unprotect: [], allowTestChanges: false, pathFolders: [] },
  );
  return { found: list([...tests, ...config]), doubtful };
}

describe("what only tests use is protected like them", () => {
  it.each(Object.entries(HELPERS))("%s", (_, { files, helpers = [], product = [], commands }) => {
    const { found } = lookedAt(files, commands);
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
    const { found } = lookedAt(files, commands);
    expect(product.filter((path) => found.includes(path))).toEqual([]);
  });
});

it("a module that tests use beside the product, and nothing else says what it is, is left and doubted", () => {
  const files = {
    "calc.py": "def add(a, b): return a - b\n",
    "main.py": "import calc\n",
    "kit/run.py": "def run(f, rows): return [f(*row) for row in rows]\n",
    "test_calc.py": "from calc import add\nfrom kit.run import run\n",
  };
  expect(lookedAt(files).doubtful).toEqual(["kit/run.py"]);
  const alone = {
    "sum.js": "exports.sum = 1;\n",
    "other.js": "",
    "test/a.test.js": 'require("../sum"); require("../other");\n',
  };
  expect(lookedAt(alone).doubtful).toEqual([]);
});
