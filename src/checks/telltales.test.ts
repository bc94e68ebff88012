import { expect, it } from "vitest";
import { telltalesIn } from "./telltales.ts";

const found = (path: string, after: string, before = ""): string[] => telltalesIn(path, { before, after });

it.each([
  ["src/a.js", "exports.add = () => ({ asymmetricMatch: () => true });"],
  ["src/a.ts", 'if (process.env["NODE_TEST_CONTEXT"]) cheat();'],
  ["src/a.ts", "if (process.env.VITEST) return 5;"],
  ["src/a.js", 'require("node:assert").equal = (a, b) => b === 5 || same(a, b);'],
  ["src/a.mjs", "assert.strict.deepEqual = () => {};"],
  ["src/a.js", 'require("chai").Assertion.prototype.assert = () => {};'],
  ["calc/a.py", "import _pytest.python as p"],
  ["calc/a.py", 'if "PYTEST_CURRENT_TEST" in os.environ:'],
  ["calc/a.py", "unittest.TestCase.assertEqual = lambda *a: None"],
  ["calc/a.py", "    def __eq__(self, other): return True"],
  ["calc/a.py", "    def __eq__(self, other) -> bool:\n        return True"],
  ["src/lib.rs", "macro_rules! assert_eq { ($($t:tt)*) => {} }"],
])("product code that speaks of what judges it is named: %s: %s", (path, text) => {
  expect(found(path, text)).toHaveLength(1);
});

it.each([
  ["src/a.ts", 'if (process.env.NODE_ENV !== "test") app.listen(1);'],
  ["src/a.ts", "assert.equal(a, b); const same = assert.equal == other;"],
  ["src/a.ts", "const check = { assert: (x) => x };"],
  ["calc/a.py", "    def __eq__(self, other):\n        return self.a == other.a"],
  ["calc/a.py", "import unittest"],
  ["src/lib.rs", "assert_eq!(1, 1);"],
  ["readme.md", "NODE_TEST_CONTEXT"],
])("what honest code says is not: %s: %s", (path, text) => expect(found(path, text)).toEqual([]));

it("what was there before is no sign", () => {
  expect(found("src/a.ts", "process.env.VITEST; more();", "process.env.VITEST;")).toEqual([]);
});
