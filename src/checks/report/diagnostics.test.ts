import { expect, it } from "vitest";
import { diagnosticsIn } from "./diagnostics.ts";

const places = { roots: ["/state/verify"] };
const names = (output: string) => diagnosticsIn(output, places).map(({ fingerprint }) => fingerprint);

it("names what compilers and linters say by file, rule and message, not by line", () => {
  const cases: [string, string[]][] = [
    ["src/a.ts(3,7): error TS2322: Type 'x' is wrong.", ["error:src/a.ts TS2322 Type 'x' is wrong."]],
    [
      "\u001b[96msrc/a.ts\u001b[0m:9:7 - error\u001b[90m TS2322: \u001b[0mType 'x' is wrong.",
      ["error:src/a.ts TS2322 Type 'x' is wrong."],
    ],
    [
      "/state/verify/src/a.js\n  1:5  error  'x' is not defined  no-undef\n\n✖ 1 problem",
      ["error:src/a.js no-undef 'x' is not defined"],
    ],
    ["main.c:3:5: error: 'y' undeclared\nmain.c:3:5: note: once", ["error:main.c 'y' undeclared"]],
    ['a.py:3: error: Name "x" is not defined  [name-defined]', ['error:a.py name-defined Name "x" is not defined']],
    ["a.py:3:1: F401 [*] `os` imported but unused", ["error:a.py F401 `os` imported but unused"]],
    ["error[E0308]: mismatched types\n --> src/lib.rs:5:5\n", ["error:src/lib.rs E0308 mismatched types"]],
    ["[ERROR] /state/verify/src/A.java:[3,9] cannot find symbol", ["error:src/A.java cannot find symbol"]],
    [
      '[{"filePath":"/state/verify/a.js","messages":[{"ruleId":"no-undef","severity":2,"message":"m","line":3}]}]',
      ["error:a.js no-undef m"],
    ],
    [
      '{ "diagnostics": [{"message": "m","code": "r","severity": "error","filename": "a.ts","labels": []}],',
      ["error:a.ts r m"],
    ],
  ];
  for (const [output, expected] of cases) expect(names(output)).toEqual(expected);
});

it("keeps counts that are part of the message, and loses places inside it", () => {
  expect(names("a.ts(1,1): error TS2554: Expected 2 arguments, but got 1.")).not.toEqual(
    names("a.ts(1,1): error TS2554: Expected 3 arguments, but got 1."),
  );
  expect(names("a.c:9:1: error: redefinition, first at /x/y/b.c:12:3, line 12")).toEqual(
    names("a.c:1:1: error: redefinition, first at /z/b.c:4:1, line 4"),
  );
});

it("lists warnings only where there are no errors, each once, and nothing of installed code", () => {
  const warning = "a.c:1:1: warning: unused 'x' [-Wunused]";
  expect(names(`${warning}\n${warning}`)).toEqual(["error:a.c -Wunused unused 'x'"]);
  expect(names(`${warning}\na.c:1:1: error: bad`)).toEqual(["error:a.c bad"]);
  expect(names("/usr/include/x.h:1:1: error: bad\nnode_modules/a/b.ts(1,1): error TS1: bad")).toEqual([]);
});
