import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { whatJudges } from "./commands.ts";

type Tree = Readonly<Record<string, string>>;

function judging(command: string, tree: Tree) {
  const names = Object.keys(tree);
  return whatJudges([command], {
    names: new Set(names.map((path) => path.split("/")[0] ?? "")),
    manifests: [],
    read: (path) => tree[path],
    holds: (patterns) => names.some(globMatcher(patterns)),
    list: (patterns) => names.filter(globMatcher(patterns)),
  });
}
const judges = (command: string, tree: Tree): string[] => judging(command, tree).files;
const files = (...paths: string[]): Tree => Object.fromEntries(paths.map((path) => [path, ""]));

describe("files that a check runs", () => {
  it.each([
    ["cd pkg && ./run", "pkg/run"],
    ["cd pkg && sh check.sh", "pkg/check.sh"],
    ["(cd a/b; ./x) && true", "a/b/x"],
    ["cd pkg/../other && ./run", "other/run"],
    ["timeout 60 ./verify", "verify"],
    ["timeout -k 5 --signal=INT 1m ./verify", "verify"],
    ["nice -n 5 ./x", "x"],
    ["xvfb-run -a ./x", "x"],
    ["xvfb-run -a -s '-screen 0 800x600x24' timeout 5 ./x", "x"],
    ["A=1 env B=2 nohup ./x", "x"],
    ["if ! ./x; then exit 1; fi", "x"],
    ["bash -e all", "all"],
    ["bash -eo pipefail all", "all"],
    ['bash -c "./verify.sh"', "verify.sh"],
    ["bash -lc 'cd pkg && exec ./verify'", "pkg/verify"],
    ["sh < all", "all"],
    ["out=$(./verify) && test -n $out", "verify"],
    ["eval './verify'", "verify"],
    [". ./any.sh && run_all", "any.sh"],
    ["BASH_ENV=./boot bash all", "boot"],
    ["uv run check.py", "check.py"],
    ["python3 -m ci.verify", "ci/verify.py"],
    ["node -r ./boot.js check.js", "check.js"],
    ["npx tsx ci/run.ts", "ci/run.ts"],
  ])("%s: %s", (command, path) => {
    expect(judges(command, files("all", path))).toContain(path);
  });

  it("are looked for where the command runs, and only there", () => {
    expect(judges("(cd a && ./x) && ./y", files("a/x", "x", "a/y", "y"))).toEqual(["a/x", "y"]);
    expect(judges("cd .. && ./x", files("x"))).toEqual([]);
    expect(judges("/x; ~/x; ../x", files("x"))).toEqual([]);
  });

  it.each([
    ["node --import ./boot.mjs src/main.js", "boot.mjs"],
    ["node --require=./boot.js --test", "boot.js"],
    ["node --env-file .env.ci --test", ".env.ci"],
    ["NODE_OPTIONS='--loader ./l.mjs' npm test", "l.mjs"],
    ["mocha -r ./boot.js", "boot.js"],
    ["npx nyc mocha --file a.js --config m.json", "m.json"],
    ["npx mocha --require one.js,two.js", "two.js"],
    ["vitest run -c v.ts", "v.ts"],
    ["cd web && jest --config=j.json", "web/j.json"],
    ["playwright test -c p.ts", "p.ts"],
    ["python -m pytest -c p.ini", "p.ini"],
    ["pytest -p plug.local", "plug/local.py"],
    ["eslint -c e.js .", "e.js"],
    ["make -f rules test", "rules"],
    ["make -C sub test", "sub/Makefile"],
    ["tsc -p tsconfig.x.json", "tsconfig.x.json"],
  ])("are named by options of runners: %s: %s", (command, path) => {
    expect(judges(command, files(path, "src/main.js"))).toEqual([path]);
  });

  it.each([
    ["node --env-file-if-exists=.env --test", {}, ".env"],
    ["make test", { Makefile: "-include local.make\ntest:\n\ttrue\n" }, "local.make"],
    ["sh check.sh", { "check.sh": "[ -f ./local.env ] && . ./local.env\n./a\n" }, "local.env"],
  ])("are kept away where they are read only if they are there: %s", (command, tree, path) => {
    expect(judges(command, tree)).toContain(path);
  });

  it("that a build makes, or that a goal may ask for, are not kept away", () => {
    expect(judges("make test", { Makefile: "-include build/*.d $(X)\ninclude rules\ntest:\n\t./a\n" })).toEqual([]);
    expect(judges("sh check.sh", { "check.sh": ". ./sum.sh\n" })).toEqual(["check.sh"]);
    expect(judges("node --env-file=.env --test", {})).toEqual([]);
  });

  it("bring along what they source, import and include", () => {
    const tree = {
      "check.sh": '. ./helpers.sh\nsource "$(dirname "$0")/lib-test.sh"\ncd "$HERE"\n"$HERE/verify"\n',
      ...files("helpers.sh", "lib-test.sh", "verify", "src/product.sh"),
      "ci/check.py": "import os, helpers\nfrom .sub import expect_all\n",
      "ci/helpers.py": "from fixtures_more import x\n",
      ...files("ci/fixtures_more.py", "ci/sub/expect_all.py", "app.py"),
      "verify.mjs":
        'import { a } from "./harness.js";\nimport { sum } from "./src/sum.js";\nawait import("./expected.json")',
      "harness.ts": 'const more = require("./test-more");',
      ...files("test-more.js", "src/sum.js", "expected.json"),
      Makefile: "include build/rules.inc\ntest:\n\tcd sub && \\\n\t  ./check-all\n\t@./verify\n",
      ...files("build/rules.inc", "sub/check-all"),
    };
    expect(judges("sh check.sh", tree)).toEqual(["check.sh", "helpers.sh", "lib-test.sh", "verify"]);
    expect(judges("python ci/check.py", tree)).toEqual([
      "ci/check.py",
      "ci/fixtures_more.py",
      "ci/helpers.py",
      "ci/sub/expect_all.py",
    ]);
    expect(judges("node verify.mjs", tree)).toEqual(["expected.json", "harness.ts", "test-more.js", "verify.mjs"]);
    expect(judges("make test", tree)).toEqual(["build/rules.inc", "sub/check-all", "verify"]);
  });

  it("are not the product that a judge's script takes in", () => {
    const tree = {
      "check.sh": ". ./src/sum.sh\n[ $(sum 1 2) = 3 ]\n",
      "check.py": "import app\nfrom app import sum\n",
      "check.mjs": 'import { sum } from "./src/sum.js";\n',
      ...files("src/sum.sh", "src/sum.js", "app.py"),
    };
    expect(judges("sh check.sh && python check.py && node check.mjs", tree)).toEqual([
      "check.mjs",
      "check.py",
      "check.sh",
    ]);
  });

  it("are those of the package's own scripts, in its folder", () => {
    const tree = {
      "web/package.json": '{"scripts":{"test":"./run","pretest":"sh prepare"}}',
      ...files("web/run", "run"),
    };
    expect(judges("cd web && npm test", tree)).toEqual(["web/run"]);
    expect(judges("npm --prefix web test", { ...tree, "web/prepare": "" })).toEqual(["web/prepare", "web/run"]);
  });

  it("are tests where a runner is given them as such, under any name", () => {
    const tree = files("qa.js", "behaviours/a.js", "src/sum.js", "boot.js");
    expect(judging("mocha -r ./boot.js qa.js 'behaviours/*.js' src/sum.js", tree).tests).toEqual([
      "behaviours/*.js",
      "qa.js",
    ]);
    expect(judging("node --test qa.js", tree).tests).toEqual(["qa.js"]);
    expect(judging("npx mocha '**/*.js'", tree).tests).toEqual([]);
    expect(judges("for f in checks/*.sh; do sh $f; done", files("checks/a.sh"))).toEqual(["checks/*.sh"]);
  });

  it("are found in any text within bounds", () => {
    for (const odd of ["'", '"', "$(", "((", "))", "<", "cd", "sh -c", "timeout", "env -u", "make -f", "npm", ". "])
      expect([odd, judges(`${odd}\n./x`, files("x"))]).toEqual([odd, ["x"]]);
    expect(judges("a\\", files("a"))).toEqual([]);
    const chain = Array.from({ length: 20 }, (_, n) => [`test-${n}.sh`, `sh test-${n + 1}.sh`]);
    expect(judges("sh test-0.sh", Object.fromEntries(chain))).toHaveLength(7);
    expect(judges("sh a-test.sh", { "a-test.sh": "sh b-test.sh", "b-test.sh": "sh a-test.sh" })).toEqual([
      "a-test.sh",
      "b-test.sh",
    ]);
  });
});
