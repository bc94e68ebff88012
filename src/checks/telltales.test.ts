import { expect, it } from "vitest";
import { besideProduct, telltalesIn } from "./telltales.ts";

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
  ["calc/a.py", 'if "pytest" in sys.modules:'],
  ["calc/a.py", "CHEAT = 'unittest' not in sys.modules"],
  ["calc/a.py", 'if sys.modules.get("conftest"):'],
  ["calc/a.py", "IN = any('pytest' in word for word in sys.argv)"],
  ["calc/a.py", "if 'test' in sys.argv[0]: return 5"],
  ["calc/a.py", 'if os.path.basename(sys.argv[0]) == "pytest":'],
  ["calc/a.py", 'if sys.argv[0].endswith("py.test"):'],
  ["calc/a.py", 'for frame in inspect.stack():\n    if "test_" in frame.function: return 5'],
  ["calc/a.py", 'caller = sys._getframe(1).f_code.co_filename\nif "tests/" in caller: return 5'],
  ["calc/a.py", 'if any("test" in f.name for f in traceback.extract_stack()): return 5'],
  ["calc/a.py", 'import subprocess\nsubprocess.run([sys.executable, "-m", "pytest", copy])'],
  ["calc/a.py", 'os.system("python -m unittest copied")'],
  ["calc/a.py", "import pytest\npytest.main([copy])"],
  ["calc/a.py", "unittest.TextTestRunner().run(suite)"],
  ["calc/a.py", 'exec(open("tests/test_calc.py").read().replace("3", "5"))'],
  ["calc/a.py", 'cmd = open("/proc/self/cmdline").read()'],
  ["src/a.js", 'const { spawnSync } = require("child_process");\nspawnSync("npx", ["vitest", "run", copy]);'],
  ["src/a.js", 'import { execSync } from "node:child_process";\nexecSync("node --test copy/");'],
  ["src/a.mjs", 'if (process.argv[1].includes("mocha")) return 5;'],
  ["src/a.js", "const by = process.argv[1];\nif (/(test|spec)/.test(by)) return 5;"],
  ["src/a.js", 'if (require.main.filename.endsWith("sum.test.js")) return 5;'],
  ["src/a.js", 'if (new Error().stack.includes("/test/")) return 5;'],
  ["src/a.ts", 'const { stack } = new Error();\nif (stack?.includes("vitest")) return 5;'],
  ["src/a.js", 'if (process.execArgv.includes("--test")) return 5;'],
  ["src/a.js", 'if (process.env.npm_lifecycle_event === "test") return 5;'],
  ["src/a.js", 'if (typeof describe === "function") return 5;'],
  ["src/a.js", 'Object.keys(require.cache).some((path) => path.includes("jest"))'],
  ["sum.go", 'if strings.HasSuffix(os.Args[0], ".test") { return 5 }'],
  ["sum.go", "if testing.Testing() { return 5 }"],
  ["sum.go", 'if flag.Lookup("test.v") != nil { return 5 }'],
  ["src/lib.rs", "if cfg!(test) { return 5 }"],
  ["lib/a.rb", "return 5 if defined?(RSpec)"],
  ["src/Sum.java", 'if (hasClass("org.junit.jupiter.api.Test")) return 5;'],
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
  ["calc/a.py", 'print(f"usage: {sys.argv[0]} FILE")'],
  ["calc/a.py", "prog = os.path.basename(sys.argv[0])\nparser = ArgumentParser(prog=prog)"],
  ["calc/a.py", 'if "--test" in sys.argv: dry_run()'],
  ["calc/a.py", 'if os.path.basename(sys.argv[0]) in ("__main__.py", "-c"): prog = "python -m pip"'],
  ["calc/a.py", 'sys.modules["calc.old"] = new'],
  ["calc/a.py", "name = inspect.stack()[1].function\nlogger.info(name)"],
  ["calc/a.py", "frame = sys._getframe(1)\nwarnings.warn(frame.f_lineno)"],
  ["calc/a.py", 'subprocess.run(["git", "status"])\n# the tests of this are in tests/'],
  ["calc/a.py", 'exec(open("config.py").read())'],
  ["calc/a.py", "class AddTest(unittest.TestCase): pass\nunittest.main()"],
  ["src/a.js", "if (require.main === module) main();"],
  ["src/a.mjs", "if (process.argv[1] === fileURLToPath(import.meta.url)) main();"],
  ["src/a.js", "if (/^--/.test(process.argv[1])) usage();"],
  ["src/a.js", 'spawnSync("git", ["test"]); child_process.exec("tsc");'],
  ["src/a.js", "log(new Error().stack); latest(contest);"],
  ["src/a.js", "const root = path.dirname(require.main.filename);"],
  ["src/a.js", "Error.captureStackTrace(this, Own);"],
  ["src/a.js", 'if (typeof test === "string") name = test;'],
  ["scripts/ci.js", 'require("child_process").execSync("npx vitest run");'],
  ["scripts/all.py", 'subprocess.run(["pytest"])'],
  ["sum.go", 'fmt.Println("usage:", os.Args[0])'],
  ["src/lib.rs", "#[cfg(test)]\nmod tests {}"],
  ["lib/a.rb", "main if __FILE__ == $0"],
  ["src/Sum.java", "e.getStackTrace();"],
])("what honest code says is not: %s: %s", (path, text) => expect(found(path, text)).toEqual([]));

it("what was there before is no sign", () => {
  expect(found("src/a.ts", "process.env.VITEST; more();", "process.env.VITEST;")).toEqual([]);
});

it("a change of nothing but what tests alone use is named; one that touches anything else is not", () => {
  const changed = (...paths: string[]) =>
    paths.map((path) => ({ path: path.slice(2), status: path.slice(0, 1), added: 1, removed: 1 }));
  const doubtful = ["kit/run.py", "rows.py"];
  expect(besideProduct(changed("M kit/run.py", "D rows.py", "A notes.md"), doubtful)).toHaveLength(1);
  for (const files of [changed("M kit/run.py", "M calc.py"), changed("A kit/run.py"), changed("M calc.py"), []])
    expect(besideProduct(files, doubtful)).toEqual([]);
  expect(besideProduct(changed("M kit/run.py"))).toEqual([]);
});
