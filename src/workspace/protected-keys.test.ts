import { describe, expect, it } from "vitest";
import { mergedJson, withoutComments, type Merged } from "./protected-json.ts";
import { mergedSections } from "./protected-sections.ts";

const KEYS = ["name", "imports", "scripts", "jest", "overrides", "dependencies", "devDependencies"];
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const BASE = {
  name: "x",
  scripts: { test: "vitest run", build: "tsc" },
  imports: { "#want": "./test/want.js", "#add": "./src/add.js" },
  dependencies: { chai: "^4.0.0" },
  devDependencies: { vitest: "^3.0.0" },
};

function judged(theirs: unknown, base: unknown = BASE): unknown {
  const merged = mergedJson(json(theirs), json(base), KEYS);
  return merged.is === "text" ? JSON.parse(merged.text) : merged.is;
}

describe("package.json", () => {
  it.each<[string, unknown]>([
    ["it is untouched", BASE],
    ["a script is added", { ...BASE, scripts: { ...BASE.scripts, dev: "vite", "pre-commit": "x" } }],
    [
      "dependencies come, go and change their version",
      { ...BASE, dependencies: { chai: "^5", left: "1.0.0", own: "file:./own" } },
    ],
    ["it is called something else", { ...BASE, name: "y" }],
    [
      "short names of the product change",
      { ...BASE, imports: { ...BASE.imports, "#add": "./lib/add.js", "#b": "./b.js" } },
    ],
    ["other keys change", { ...BASE, version: "2.0.0", type: "module" }],
  ])("stays as the agent has it when %s", (_, theirs) => expect(judged(theirs)).toBe("same"));

  it.each<[string, unknown]>([
    ["a script is replaced", { ...BASE, scripts: { ...BASE.scripts, test: "exit 0" } }],
    ["a script is removed", { ...BASE, scripts: { build: "tsc" } }],
    ["it takes the name of a dependency", { ...BASE, name: "chai" }],
    ["it takes the name of a library for tests", { ...BASE, name: "@jest/globals" }],
    ["a short name of the tests leads elsewhere", { ...BASE, imports: { ...BASE.imports, "#want": "./src/want.js" } }],
    [
      "all scripts are removed",
      { name: "x", imports: BASE.imports, dependencies: BASE.dependencies, devDependencies: BASE.devDependencies },
    ],
    ["something runs before a script", { ...BASE, scripts: { ...BASE.scripts, pretest: "rm -r test" } }],
    ["something runs at installation", { ...BASE, scripts: { ...BASE.scripts, prepare: "node patch.js" } }],
    ["a runner is configured", { ...BASE, jest: { testMatch: [] } }],
    ["a dependency leads elsewhere", { ...BASE, dependencies: { chai: "file:./fake" } }],
    ["a dependency is overridden", { ...BASE, overrides: { chai: "npm:fake@4" } }],
    ["the runner comes from elsewhere", { ...BASE, devDependencies: { vitest: "./fake" } }],
    ["it has no scripts but a text", { ...BASE, scripts: "none" }],
  ])("is the base's when only %s", (_, theirs) => expect(judged(theirs)).toBe("base"));

  it("keeps the rest of the agent's change, its order and its indent", () => {
    const theirs = { ...BASE, version: "2", scripts: { dev: "vite", test: "exit 0" }, jest: {} };
    const text = JSON.stringify(theirs, null, 4);
    const merged = mergedJson(text, json(BASE), KEYS);
    const wanted = { ...BASE, version: "2", scripts: { test: "vitest run", build: "tsc", dev: "vite" } };
    expect(merged).toEqual({ is: "text", text: JSON.stringify(wanted, null, 4) });
    expect(mergedJson(merged.is === "text" ? merged.text : "", json(BASE), KEYS)).toEqual({ is: "same" });
  });

  it("is the base's when nobody can read what the agent made of it", () => {
    for (const broken of ["{", "[]", "", '{"a":1,}']) expect(mergedJson(broken, json(BASE), KEYS).is).toBe("base");
  });

  it("of a new package may have scripts of its own, but configures no runner", () => {
    expect(mergedJson(json({ scripts: { test: "x", prepare: "y" } }), undefined, KEYS).is).toBe("same");
    expect(mergedJson(json({ name: "n", jest: {} }), undefined, KEYS)).toEqual({
      is: "text",
      text: json({ name: "n" }),
    });
  });

  it("may take up a runner that the base does not use", () => {
    const bare = { name: "x", scripts: { build: "tsc" } };
    expect(judged({ ...bare, devDependencies: { vitest: "^3" } }, bare)).toBe("same");
  });

  it("takes names like __proto__ for what they are", () => {
    const text = '{"__proto__": {"jest": 1}, "jest": {}}';
    expect(mergedJson(text, "{}", KEYS)).toEqual({ is: "text", text: '{\n  "__proto__": {\n    "jest": 1\n  }\n}' });
  });
});

const PATTERNS = ["tool.pytest*", "tool:pytest", "project.entry-points.pytest*", "test"];
const PROJECT =
  '[project]\nname = "x"\ndeps = ["a"]\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\nline = 1\n';
const toml = (theirs: string, base: string | undefined = PROJECT): Merged =>
  mergedSections(theirs, base, { patterns: PATTERNS, syntax: "toml" });

describe("pyproject.toml", () => {
  it.each([
    ["it is untouched", PROJECT],
    ["other sections change", PROJECT.replace('"a"', '"a", "b"').replace("line = 1", "line = 2")],
    ["a section is added", `${PROJECT}\n[tool.black]\nx = """\n[tool.pytest.ini_options]\n"""\n`],
    ["a dependency is called like a runner", PROJECT.replace('"a"', '"pytest>=8",\n  "tool.pytest"')],
  ])("stays as the agent has it when %s", (_, theirs) => expect(toml(theirs).is).toBe("same"));

  it.each([
    ["the section changes", PROJECT.replace("-q", "-q --co")],
    ["the section is removed", PROJECT.replace('[tool.pytest.ini_options]\naddopts = "-q"\n\n', "")],
    ["another one is added", `${PROJECT}[tool.pytest]\nx = 1\n`],
    ["it is said with quotes", `${PROJECT}["tool" . "pytest".more]\nx = 1\n`],
    ["it is said with escapes", `${PROJECT}["tool"."\\u0070ytest"]\nx = 1\n`],
    ["it is said by a dotted key", `tool.pytest.ini_options.addopts = "--co"\n${PROJECT}`],
    ["it is said in the section above", `${PROJECT}[tool]\npytest.ini_options.addopts = "--co"\n`],
    [
      "it is said in an inline table",
      PROJECT.replace('name = "x"', 'name = "x"\nentry-points = { pytest11 = { a = "b" } }'),
    ],
    ["it hides in a text", `x = """\n[tool.pytest.ini_options]\naddopts = "-q"\n"""\n`],
  ])("is the base's, at least in its section, when %s", (_, theirs) => expect(toml(theirs).is).not.toBe("same"));

  it("keeps the rest of the agent's change, and then there is nothing more to put back", () => {
    const merged = toml(PROJECT.replace("-q", "--co").replace('"a"', '"b"'));
    expect(merged.is === "text" && merged.text).toBe(
      '[project]\nname = "x"\ndeps = ["b"]\n\n[tool.ruff]\nline = 1\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n',
    );
    expect(toml(merged.is === "text" ? merged.text : "").is).toBe("same");
  });

  it("that is new configures no runner", () => {
    const text = '[project]\nname = "x"\n[tool.pytest]\na = 1\n';
    expect(mergedSections(text, undefined, { patterns: PATTERNS, syntax: "toml" })).toEqual({
      is: "text",
      text: '[project]\nname = "x"\n',
    });
  });
});

it("setup.cfg: an indented line is no section", () => {
  const base = "[metadata]\nname = x\n[tool:pytest]\naddopts = -q\n";
  const of = (theirs: string): Merged => mergedSections(theirs, base, { patterns: PATTERNS, syntax: "ini" });
  expect(of(base.replace("name = x", "name = y\n [tool:pytest]")).is).toBe("same");
  expect(of(base.replace("[tool:pytest]", " [tool:pytest]")).is).toBe("text");
  expect(of(base.replace("-q", "--co")).is).toBe("base");
});

it("JSON with comments is read without them", () => {
  const text = '{ // tasks\n "tasks": { "test": "deno test // all", }, /* more */ "url": "https://a.b/,}" }';
  expect(JSON.parse(withoutComments(text))).toEqual({ tasks: { test: "deno test // all" }, url: "https://a.b/,}" });
});
