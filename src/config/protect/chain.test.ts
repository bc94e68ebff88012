import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { chainOf } from "./chain.ts";
import { whatJudges } from "./commands.ts";

type Tree = Readonly<Record<string, string>>;

const SCRIPTS: Tree = {
  "test/a.js": "assert(1)\n",
  "test/b.js": "assert(1)\n",
  "scripts/check.py": "assert 1\n",
  "pkg/test/a.js": "assert(1)\n",
};

function chain(command: string, tree: Tree = {}) {
  const all = { ...SCRIPTS, ...tree };
  const names = Object.keys(all);
  const project = {
    names: new Set(names.map((path) => path.split("/")[0] ?? "")),
    manifests: names
      .filter((path) => path.endsWith("/package.json"))
      .map((path) => ({ folder: path.slice(0, -"/package.json".length), text: all[path] ?? "" })),
    read: (path: string) => all[path],
    holds: (patterns: readonly string[]) => names.some(globMatcher(patterns)),
    list: (patterns: readonly string[]) => names.filter(globMatcher(patterns)),
  };
  return chainOf(command, project, whatJudges([command], project).files);
}
/** Those whose failure is sure to be the command's without a mark, others with one. */
const found = (command: string, tree?: Tree): string[] =>
  chain(command, tree).scripts.map(({ path, must }) => (must ? path : `${path}?`));
const manifest = (scripts: Record<string, string>): Tree => ({ "package.json": JSON.stringify({ scripts }) });

describe("scripts that a command comes down to", () => {
  it.each([
    ["node test/a.js", ["test/a.js"]],
    ["node test/a.js && node test/b.js", ["test/a.js", "test/b.js"]],
    ["node test/a.js; node test/b.js", ["test/b.js"]],
    ["node test/a.js; rc=$?; node test/b.js && exit $rc", ["test/a.js?", "test/b.js"]],
    ["node test/a.js || exit 1; node test/b.js", ["test/a.js?", "test/b.js"]],
    ["node test/a.js || true", ["test/a.js?"]],
    ["node test/a.js | tee log", ["test/a.js?"]],
    ["cat x | node test/a.js", ["test/a.js"]],
    ["true && node test/a.js &", ["test/a.js?"]],
    ["(node test/a.js && node test/b.js) || echo no", ["test/a.js?", "test/b.js?"]],
    ["(cd pkg && node test/a.js) && node test/b.js", ["pkg/test/a.js", "test/b.js"]],
    ["cd pkg && node test/a.js", ["pkg/test/a.js"]],
    ["cd pkg; node test/a.js", ["pkg/test/a.js"]],
    ["echo $(node test/a.js) && node test/b.js", ["test/a.js?", "test/b.js"]],
    ["if node test/a.js; then node test/b.js; fi", ["test/a.js?", "test/b.js?"]],
    ["bash -c 'node test/a.js && python3 scripts/check.py'", ["test/a.js", "scripts/check.py"]],
    ["sh -ec 'cd pkg; node test/a.js'", ["pkg/test/a.js"]],
    ["CI=1 timeout 60 node --enable-source-maps test/a.js --all", ["test/a.js"]],
    ["npx vitest run && node test/a.js", ["test/a.js"]],
    ["pytest && python scripts/check.py", ["scripts/check.py"]],
    ["node build.js && node test/a.js", ["test/a.js"]],
    ["c8 --all node test/a.js && npx cross-env CI=1 node test/b.js", ["test/a.js", "test/b.js"]],
  ])("of %s are %j", (command, scripts) => expect(found(command)).toEqual(scripts));

  it.each([
    ["npm test", { test: "node test/a.js" }, ["test/a.js"]],
    [
      "npm t -- --all",
      { test: "npm run one && npm run two", one: "node test/a.js", two: "node test/b.js" },
      ["test/a.js", "test/b.js"],
    ],
    [
      "npm test",
      { pretest: "node test/b.js", test: "node test/a.js", posttest: "python3 scripts/check.py" },
      ["test/b.js", "test/a.js", "scripts/check.py"],
    ],
    ["yarn test", { pretest: "node test/b.js", test: "node test/a.js" }, ["test/b.js?", "test/a.js"]],
    ["pnpm run test", { test: "cd pkg && node test/a.js" }, ["pkg/test/a.js"]],
    ["bun run test", { test: "node test/a.js" }, ["test/a.js"]],
    ["node --run test", { pretest: "node test/b.js", test: "node test/a.js" }, ["test/a.js"]],
    ["npm run round", { round: "npm run round && node test/a.js" }, ["test/a.js"]],
    ["npm run constructor", {}, []],
  ] as [string, Record<string, string>, string[]][])("of %s with %j are %j", (command, scripts, paths) =>
    expect(found(command, manifest(scripts))).toEqual(paths),
  );

  it("may be ended by a helper of theirs", () => {
    const tree = {
      "test/all.js": 'const { report } = require("./helpers.js");\nreport();\n',
      "test/helpers.js": "exports.report = () => process.exit(0);\n",
    };
    expect(found("node test/all.js", tree)).toEqual(["test/all.js?"]);
  });

  it("are found in the package that npm is sent to", () => {
    const tree = { "pkg/package.json": '{"name":"pkg","scripts":{"test":"node test/a.js"}}' };
    expect(found("npm --prefix pkg test", tree)).toEqual(["pkg/test/a.js"]);
    expect(found("cd pkg && npm test", tree)).toEqual(["pkg/test/a.js"]);
    expect(found("npm test --workspaces", tree)).toEqual(["pkg/test/a.js?"]);
    const whole = { ...tree, "package.json": '{"workspaces":["pk*"]}' };
    expect(found("npm test --workspaces", whole)).toEqual(["pkg/test/a.js"]);
    expect(found("npm test -w other", whole)).toEqual(["pkg/test/a.js?"]);
  });

  it.each([
    [
      "make test",
      ".PHONY: test\ntest: one two\none:\n\t@node test/a.js\ntwo:\n\tpython3 scripts/check.py\n",
      ["test/a.js", "scripts/check.py"],
    ],
    ["make", ".PHONY: test\ntest:\n\tnode test/a.js\nother:\n\tnode test/b.js\n", ["test/a.js"]],
    [
      "make test",
      ".PHONY: test\nN := node\ntest: ; $(N) test/a.js && cd pkg && $(N) test/a.js\n",
      ["test/a.js", "pkg/test/a.js"],
    ],
    ["make unit", "unit:\n\t-node test/a.js\n\tnode \\\n\t  test/b.js\n", ["test/a.js?", "test/b.js"]],
    ["make -k test", "test:\n\tnode test/a.js\n", ["test/a.js?"]],
    ["make all", "all:\n\t$(MAKE) -C pkg unit\n", ["pkg/test/a.js"]],
    // There is a folder of that name: it is up to date, and nothing is run.
    ["make test", "test:\n\tnode test/a.js\n", ["test/a.js?"]],
  ])("of %s by a Makefile are found by its targets", (command, makefile, paths) =>
    expect(found(command, { Makefile: makefile, "pkg/Makefile": "unit:\n\tnode test/a.js\n" })).toEqual(paths),
  );

  it.each([
    ["node test/a.js\nnode test/b.js\n", ["check.sh", "test/b.js"]],
    ["set -e\nnode test/a.js\nnode test/b.js || true\n", ["check.sh", "test/a.js", "test/b.js?"]],
    ["set -eu\nrun() {\n  node test/a.js\n}\nrun\nnode test/b.js\n", ["check.sh", "test/a.js?", "test/b.js"]],
    ["exec node test/a.js\n", ["check.sh", "test/a.js"]],
  ])("are those of a shell script, too: %j", (text, paths) =>
    expect(found("sh check.sh", { "check.sh": text })).toEqual(paths),
  );

  it("are eight at most, and the rest is told", () => {
    const names = Array.from({ length: 10 }, (_, n) => `test/t${n}.js`);
    const tree = Object.fromEntries(names.map((name) => [name, "1"]));
    const { scripts, others } = chain(names.map((name) => `node ${name}`).join(" && "), tree);
    expect([scripts.length, others]).toEqual([8, ["2 more scripts"]]);
  });
});

it.each([
  ["vitest run && node test/a.js", 1],
  ["npx jest && pytest -q", 2],
  ["node --test && python3 -m unittest", 2],
  ["go test ./... && cargo test", 2],
  ["node test/a.js", 0],
])("%s has %i runners", (command, runners) => expect(chain(command).runners).toBe(runners));

it("a script that starts others, and a loop over files, may run tests that only they know", () => {
  const starts = { "test/all.js": 'require("node:child_process").spawnSync("node", [file]);\n' };
  expect(chain("node test/all.js", starts).isOpen).toBe(true);
  expect(chain("for f in test/*.js; do node $f || exit 1; done").isOpen).toBe(true);
  expect(chain("node test/a.js").isOpen).toBe(false);
});

it.each([
  ["make test", { Makefile: "test: prog\n\t./prog\nprog:\n\tcc -o prog a.c\n" }, ["prog"]],
  ["node -e 'require(\"./src\")'", {}, ["node with code of its own"]],
  ["python3 - <<EOF\nimport x\nEOF", {}, ["python3 with code of its own"]],
  ["go run ./cmd/check", {}, ["go run ./cmd/check"]],
  ["java -jar test.jar && node test/a.js", {}, ["java -jar test.jar"]],
  ["npx eslint . && tsc --noEmit && node test/a.js -e x", {}, []],
] as [string, Tree, string[]][])("no failure can be planted in a part of %s", (command, tree, others) =>
  expect(chain(command, tree).others).toEqual(others),
);
