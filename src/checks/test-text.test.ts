import { describe, expect, it } from "vitest";
import { placeOf } from "./tests-of-file.ts";
import { testText } from "./test-text.ts";

const JS = `
import { it } from "vitest";
// it.skip("in a comment")
describe("sums", () => {
  it("adds", () => { expect(list.skip(2)).toBe(3); });
  it("skips blanks", () => { say("it.skips nothing"); });
  it.skip("later", () => {});
  it("here", { skip: !process.env.HERE }, () => {});
  it('asks', (t) => { t.skip(); });
  it.each([[1, 2]])("takes %i", () => {});
});
describe.skip("old", () => { it("divides", () => {}); });
it("without a body")
`;
const PY = `
import pytest
"""pytest.skip() in a text"""

def helper():
    return 1

@pytest.mark.parametrize(
    "n",
    [
        1,
        pytest.param(2, marks=pytest.mark.skip),
    ],
)
def test_given(n):
    assert n
def test_plain():
    assert helper()

@skip_on_windows
class TestOld:
    def test_old(self):
        pass

class TestNew:
    def test_new(self):
        pass
    @pytest.mark.xfail(strict=True)
    def test_wrong(self):
        assert False
    async def test_asks(
        self,
    ):
        pytest.importorskip("numpy")
`;
const GO = `
func TestAdds(t *testing.T) {
	t.Run("one two", func(t *testing.T) {})
}
func TestLater(t *testing.T) {
	if testing.Short() { t.Skip() }
}
`;

describe.each([
  [
    "a.test.ts",
    JS,
    {
      yes: [
        ["sums", "later"],
        ["sums", "here"],
        ["sums", "asks"],
        ["old", "divides"],
        ["without a body"],
        ["sums", "takes 1"],
      ],
      no: [
        ["sums", "adds"],
        ["sums", "skips blanks"],
      ],
    },
  ],
  [
    "test_a.py",
    PY,
    {
      yes: [
        ["test_given"],
        ["TestOld", "test_old"],
        ["TestNew", "test_wrong"],
        ["TestNew", "test_asks"],
        ["test_made_up"],
      ],
      no: [["test_plain"], ["TestNew", "test_new"]],
    },
  ],
  ["a_test.go", GO, { yes: [["TestLater"], ["TestMadeUp"]], no: [["TestAdds"], ["TestAdds", "one_two"]] }],
] as const)("the text of %s", (path, text, { yes, no }) => {
  it("tells which tests it may skip, and of names it does not have that it may", () => {
    const said = testText(path, text);
    expect(yes.filter((names) => said?.mayBeSkipped(names) !== true)).toEqual([]);
    expect(no.filter((names) => said?.mayBeSkipped(names) !== false)).toEqual([]);
  });

  it("skips nothing where it does not speak of it", () => {
    const plain = text.replaceAll(/^.*(?:skip|xfail|Short).*$/gim, "").replace('it("without a body")', "");
    expect(testText(path, plain)?.mayBeSkipped(["a name that was made"])).toBe(false);
  });
});

it("may skip any test where the whole file, or all but some, is told to be", () => {
  const may = (path: string, text: string, ...names: string[]) => testText(path, text)?.mayBeSkipped(names);
  expect(may("a.test.js", 'beforeEach(function () { this.skip(); });\nit("a", () => {});', "a")).toBe(true);
  expect(
    may("a.test.js", 'describe("s", () => { before(function () { this.skip(); }); it("a", () => {}); });', "s", "a"),
  ).toBe(true);
  expect(may("a.test.js", 'it.only("b", () => {});\nit("a", () => {});', "a")).toBe(true);
  expect(may("a.test.js", 'const run = isLinux ? it : it.skip;\nrun("a", () => {});\nit("b", () => {});', "b")).toBe(
    true,
  );
  expect(may("test_a.py", "pytestmark = pytest.mark.skipif(True)\ndef test_a():\n    pass\n", "test_a")).toBe(true);
  expect(
    may(
      "test_a.py",
      "class T(TestCase):\n    def setUp(self):\n        self.skipTest('x')\n    def test_a(self):\n        pass\n",
      "T",
      "test_a",
    ),
  ).toBe(true);
  expect(may("a_test.go", "func need(t *testing.T) { t.Skip() }\nfunc TestA(t *testing.T) {\n}\n", "TestA")).toBe(true);
  expect(testText("a.rb", "skip")).toBeUndefined();
});

it("knows which tests run whenever the file is loaded", () => {
  const always = (path: string, text: string) => testText(path, text)?.always;
  expect(always("a.test.ts", JS.replace('describe.skip("old"', 'describe("old"'))).toEqual([
    "adds",
    "skips blanks",
    "divides",
  ]);
  // Code that a test is about, and an end of a pattern that is none.
  const about =
    'it("one", () => {\n  run(`\n  it("inner", () => {});\n`, "it(\'deep\')", /["`]/);\n});\nit("two", () => {});';
  expect(always("a.test.ts", about)).toEqual(["one", "two"]);
  expect(always("a.test.ts", 'if (isMac) {\n  it("one", () => {});\n}\nit("two", () => {});')).toEqual([]);
  expect(always("test_a.py", PY)).toEqual([]);
  expect(always("test_a.py", PY.replace("@skip_on_windows\n", ""))).toEqual(["test_plain", "test_old", "test_new"]);
  expect(
    always(
      "test_a.py",
      "class Mixin:\n    def test_a(self):\n        pass\nif True:\n    def test_b():\n        pass\n",
    ),
  ).toEqual([]);
});

it("has names that stand in it as they are, and no others", () => {
  const has = (path: string, text: string, names: readonly string[]) =>
    names.map((name) => testText(path, text)?.has(name));
  expect(has("a.test.ts", JS, ["adds", "sums", "takes 1", "add"])).toEqual([true, true, false, false]);
  expect(has("test_a.py", PY, ["test_plain", "TestOld", "test_plai", "helpe"])).toEqual([true, true, false, false]);
  expect(has("a_test.go", GO, ["TestAdds", "one_two", "three"])).toEqual([true, true, false]);
});

it("is looked for where the id of a test says", () => {
  expect(placeOf("src/a.test.ts > sums > adds", undefined)).toEqual({
    files: ["src/a.test.ts"],
    names: ["sums", "adds"],
  });
  expect(placeOf("t/test_a.py::TestX::test_y[a::b > c]", undefined)?.names.slice(0, 2)).toEqual(["TestX", "test_y"]);
  expect(placeOf("example.com/m/sub > TestX/one/two", "example.com/m")).toEqual({
    files: [],
    folder: "sub",
    names: ["TestX", "one", "two"],
  });
  expect(placeOf("example.com/m > TestX", "example.com/m")).toMatchObject({ folder: "" });
  expect(placeOf("tests.test_a.Sums.test_b", undefined)).toMatchObject({
    files: ["tests/test_a.py", "tests/tests/test_a.py"],
    names: ["Sums", "test_b"],
  });
  for (const id of [
    "a b c",
    "src/lib.rs > sums > tests::adds",
    "com.acme.SumTest > adds",
    "a.test.ts",
    "unnamed test 1",
  ])
    expect(placeOf(id, undefined)).toBeUndefined();
});
