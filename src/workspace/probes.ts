/** Assertions that must fail, of the kinds that a test file uses itself, in its own language. Pure. */

/** Arguments with which each fails; the first is what is looked at, where it has one of its own. */
const EXPECT: Readonly<Record<string, readonly [string, string]>> = {
  toBe: ["1", "2"],
  toEqual: ["[1]", "[2]"],
  toStrictEqual: ["[1]", "[2]"],
  toMatchObject: ["{a:1}", "{a:2}"],
  toContain: ["[1]", "2"],
  toContainEqual: ["[1]", "2"],
  toMatch: ['"a"', '"b"'],
  toHaveLength: ["[1]", "2"],
  toHaveProperty: ["{a:1}", '"b"'],
  toBeTruthy: ["0", ""],
  toBeFalsy: ["1", ""],
  toBeNull: ["1", ""],
  toBeUndefined: ["1", ""],
  toBeDefined: ["undefined", ""],
  toBeNaN: ["1", ""],
  toBeCloseTo: ["1", "2"],
  toBeGreaterThan: ["1", "2"],
  toBeGreaterThanOrEqual: ["1", "2"],
  toBeLessThan: ["2", "1"],
  toBeLessThanOrEqual: ["2", "1"],
  toBeInstanceOf: ["1", "Map"],
  toThrow: ["()=>{}", ""],
  toThrowError: ["()=>{}", ""],
};
const ASSERT: Readonly<Record<string, string>> = {
  ok: "0",
  equal: "1,2",
  notEqual: "1,1",
  strictEqual: "1,2",
  notStrictEqual: "1,1",
  deepEqual: "[1],[2]",
  deepStrictEqual: "[1],[2]",
  notDeepEqual: "[1],[1]",
  notDeepStrictEqual: "[1],[1]",
  match: '"a",/b/',
  doesNotMatch: '"a",/a/',
  throws: "()=>{}",
  isTrue: "false",
  isFalse: "true",
};
const UNITTEST: Readonly<Record<string, string>> = {
  assertEqual: "1, 2",
  assertNotEqual: "1, 1",
  assertTrue: "False",
  assertFalse: "True",
  assertIs: "1, 2",
  assertIsNone: "1",
  assertIsNotNone: "None",
  assertIn: "1, []",
  assertNotIn: "1, [1]",
  assertIsInstance: "1, str",
  assertAlmostEqual: "1, 2",
  assertGreater: "1, 2",
  assertGreaterEqual: "1, 2",
  assertLess: "2, 1",
  assertLessEqual: "2, 1",
  assertRegex: "'a', 'b'",
  assertListEqual: "[1], [2]",
  assertDictEqual: "{}, {1: 1}",
  assertCountEqual: "[1], [2]",
};

const named = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name)),
];

const PROBES = {
  javascript(text: string): string[] {
    const expects = named(text, /\.(to[A-Z]\w*)\s*\(/g).flatMap((name) => {
      const [seen, wanted] = EXPECT[name] ?? [];
      return seen === undefined ? [] : [`expect(${seen}).${name}(${wanted})`];
    });
    const calls = named(text, /\bassert((?:\.strict)?\.\w+)\s*\(/g).flatMap((name) => {
      const wrong = ASSERT[name.split(".").at(-1) ?? ""];
      return wrong === undefined ? [] : [`assert${name}(${wrong})`];
    });
    // `import { ok, strictEqual as same } from "node:assert"`, and the same by `require`.
    const [, list = ""] =
      /\{([^{}]*)\}\s*(?:from|=\s*require\s*\()\s*["'](?:node:)?assert(?:\/strict)?["']/.exec(text) ?? [];
    const taken = list.split(",").flatMap((one) => {
      const [name = "", local = name] = one.trim().split(/\s+as\s+|\s*:\s*/);
      return ASSERT[name] === undefined ? [] : [`${local}(${ASSERT[name]})`];
    });
    const plain = /(?:^|[^.\w])assert\s*\(/.test(text) ? ["assert(false)"] : [];
    return [...expects, ...calls, ...taken, ...plain];
  },
  python(text: string): string[] {
    const methods = named(text, /\bself\.(assert\w+)\s*\(/g).flatMap((name) =>
      UNITTEST[name] === undefined ? [] : [`self.${name}(${UNITTEST[name]})`],
    );
    return [...(/\bunittest\b/.test(text) ? methods : []), ...(/^\s*assert\b/m.test(text) ? ["assert 1 == 2"] : [])];
  },
};

export const probesOf = (language: keyof typeof PROBES, text: string): string[] => PROBES[language](text);
