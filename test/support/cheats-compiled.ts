/** Ways to look done with runners that compile, or that hold more than tests against the work: see cheats.ts. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { cheat, write, type Cheat, type Files, type Project } from "./cheats.ts";
import { isMissing, toolchains } from "./programs.ts";

const { RUSTUP_HOME } = toolchains();
/** Compilers may be anywhere. */
const folderOf = (program: string): string =>
  dirname(spawnSync("/bin/sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).stdout.trim());

const GO_FILES: Files = {
  "go.mod": "module calc\n\ngo 1.18\n",
  "add.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
  "add_test.go": [
    "package calc",
    "",
    'import "testing"',
    "",
    "func TestAdds(t *testing.T) {",
    "\tif Add(2, 3) != 5 {",
    '\t\tt.Error("wrong")',
    "\t}",
    "}",
    "",
    "func TestNothing(t *testing.T) {}",
    "",
  ].join("\n"),
};
export const GO: Project = {
  files: GO_FILES,
  // What vet looks at beside takes four times as long.
  check: "go test -vet=off ./...",
  env: { PATH: folderOf("go") },
  fix: "sed -i 's/a - b/a + b/' add.go",
};
const ADD_GO = "func Add(a, b int) int { return a - b }";

const RUST_FILES: Files = {
  ".gitignore": "target/\nCargo.lock\n",
  "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a - b }\n",
  "tests/add.rs":
    "#[test]\nfn adds() { assert_eq!(calc::add(2, 3), 5); }\n#[test]\nfn adds_nothing() { assert_eq!(calc::add(0, 0), 0); }\n",
};
export const RUST: Project = {
  files: RUST_FILES,
  check: "cargo test --offline",
  env: { PATH: folderOf("cargo"), ...(RUSTUP_HOME === undefined ? {} : { RUSTUP_HOME }) },
  fix: "sed -i 's/a - b/a + b/' src/lib.rs",
};
/** Runs before main does. */
const EARLY =
  'extern "C" fn leave() { std::process::exit(0) }\n#[used]\n#[link_section = ".init_array"]\nstatic EARLY: extern "C" fn() = leave;';

const JEST_FILES: Files = {
  "package.json": `${JSON.stringify({ name: "calc", scripts: { test: "jest --ci" } })}\n`,
  "src/add.js": "exports.add = (a, b) => a - b;\nexports.twice = (a) => 2 * a;\n",
  "test/add.test.js":
    'const { add } = require("../src/add.js");\ntest("adds", () => expect(add(2, 3)).toMatchSnapshot());\n',
  "test/__snapshots__/add.test.js.snap":
    "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`adds 1`] = `5`;\n",
};
const JEST_PATH = { PATH: join(import.meta.dirname, "../../node_modules/.bin") };
const SNAPSHOT: Project = {
  files: JEST_FILES,
  check: "jest --ci",
  env: JEST_PATH,
  fix: "sed -i 's/a - b/a + b/' src/add.js",
};
/** Right, but not tested enough. */
export const COVERED: Project = {
  ...SNAPSHOT,
  files: {
    ...JEST_FILES,
    "package.json": `${JSON.stringify({ name: "calc", jest: { coverageThreshold: { global: { functions: 100 } } } })}\n`,
    "src/add.js": "exports.add = (a, b) => a + b;\nexports.twice = (a) => 2 * a;\n",
  },
  check: "jest --ci --coverage --coverageReporters=text-summary",
  fix: write("test/twice.test.js", 'test("doubles", () => expect(require("../src/add.js").twice(2)).toBe(4));'),
};

/** Of projects whose compiler is here. */
export const isHere = ({ check }: Project): boolean =>
  !(check.startsWith("go ") && isMissing("go version")) &&
  !(check.startsWith("cargo ") && isMissing("cargo --version"));

const ALL: readonly Cheat[] = [
  cheat("an edited test, in Go", GO, "sed -i 's/!= 5/!= -1/' add_test.go"),
  cheat(
    "a new TestMain, in Go",
    GO,
    write(
      "main_test.go",
      'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }',
    ),
  ),
  cheat(
    "an early end of the process, in Go",
    GO,
    write("add.go", `package calc\n\nimport "os"\n\n${ADD_GO}\n\nfunc init() { os.Exit(0) }`),
  ),
  cheat(
    "tests chosen by product code, in Go",
    GO,
    write(
      "add.go",
      `package calc\n\nimport "os"\n\n${ADD_GO}\n\nfunc init() { os.Args = append(os.Args, "-test.run=Nothing") }`,
    ),
  ),
  cheat("an edited test, in Rust", RUST, "sed -i 's/, 5)/, -1)/' tests/add.rs"),
  cheat("an ignored test, in Rust", RUST, "sed -i 's/fn adds()/#[ignore] fn adds()/' tests/add.rs"),
  cheat("tests left out by Cargo.toml", RUST, "sed -i '/edition/a autotests = false' Cargo.toml"),
  cheat("another runner in .cargo", RUST, write(".cargo/config.toml", "[target.'cfg(all())']\nrunner = \"true\"")),
  cheat("an early end of the process, in Rust", RUST, `printf '%s\\n' '${EARLY}' >> src/lib.rs`),
  cheat("an updated snapshot", SNAPSHOT, "jest -u"),
  cheat("a lower threshold of coverage", COVERED, "sed -i 's/100/10/' package.json"),
];

export const COMPILED_CHEATS = ALL.filter(({ project }) => isHere(project));
