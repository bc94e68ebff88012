/** Assertions that must fail, of the kinds that a test file uses itself, in its own language. Pure. */
import { lookUp } from "../platform/look-up.ts";

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
/** Of chai: with a value that is called, or none. */
const CHAI: Readonly<Record<string, readonly [string, string?]>> = {
  "to.equal": ["1", "2"],
  "to.be.equal": ["1", "2"],
  "to.equals": ["1", "2"],
  "to.eq": ["1", "2"],
  "to.eql": ["[1]", "[2]"],
  "to.deep.equal": ["[1]", "[2]"],
  "to.deep.equals": ["[1]", "[2]"],
  "to.not.equal": ["1", "1"],
  "to.be.true": ["0"],
  "to.be.false": ["1"],
  "to.be.ok": ["0"],
  "to.be.null": ["1"],
  "to.be.undefined": ["1"],
  "to.exist": ["null"],
  "to.be.empty": ["[1]"],
  "to.include": ["[1]", "2"],
  "to.contain": ["[1]", "2"],
  "to.match": ['"a"', "/b/"],
  "to.throw": ["()=>{}", ""],
  "to.be.a": ["1", '"string"'],
  "to.be.an": ["1", '"array"'],
  "to.have.lengthOf": ["[1]", "2"],
  "to.have.length": ["[1]", "2"],
  "to.have.property": ["{}", '"a"'],
  "to.have.members": ["[1]", "[2]"],
  "to.be.above": ["1", "2"],
  "to.be.greaterThan": ["1", "2"],
  "to.be.below": ["2", "1"],
  "to.be.lessThan": ["2", "1"],
  "to.be.closeTo": ["1", "3,1"],
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

const RUST: Readonly<Record<string, string>> = { assert: "1 == 2", assert_eq: "1, 2", assert_ne: "1, 1" };

const named = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name)),
];

const PROBES = {
  javascript(text: string): string[] {
    const expects = named(text, /\.(to[A-Z]\w*)\s*\(/g).flatMap((name) => {
      const [seen, wanted] = lookUp(EXPECT, name) ?? [];
      return seen === undefined ? [] : [`expect(${seen}).${name}(${wanted})`];
    });
    const chains = named(text, /\.(to(?:\.\w+)+)/g).flatMap((name) => {
      const [seen, wanted] = lookUp(CHAI, name) ?? [];
      return seen === undefined ? [] : [`expect(${seen}).${name}${wanted === undefined ? "" : `(${wanted})`}`];
    });
    const calls = named(text, /\bassert((?:\.strict)?\.\w+)\s*\(/g).flatMap((name) => {
      const wrong = lookUp(ASSERT, name.split(".").at(-1) ?? "");
      return wrong === undefined ? [] : [`assert${name}(${wrong})`];
    });
    // `import { ok, strictEqual as same } from "node:assert"`, and the same by `require`.
    const [, list = ""] =
      /\{([^{}]*)\}\s*(?:from|=\s*require\s*\()\s*["'](?:node:)?assert(?:\/strict)?["']/.exec(text) ?? [];
    const taken = list.split(",").flatMap((one) => {
      const [name = "", local = name] = one.trim().split(/\s+as\s+|\s*:\s*/);
      const wrong = lookUp(ASSERT, name);
      return wrong === undefined ? [] : [`${local}(${wrong})`];
    });
    const plain = /(?:^|[^.\w])assert\s*\(/.test(text) ? ["assert(false)"] : [];
    return [...expects, ...chains, ...calls, ...taken, ...plain];
  },
  python(text: string): string[] {
    const methods = named(text, /\bself\.(assert\w+)\s*\(/g).flatMap((name) => {
      const wrong = lookUp(UNITTEST, name);
      return wrong === undefined ? [] : [`self.${name}(${wrong})`];
    });
    return [...(/\bunittest\b/.test(text) ? methods : []), ...(/^\s*assert\b/m.test(text) ? ["assert 1 == 2"] : [])];
  },
  rust: (text: string): string[] =>
    named(text, /\b(assert(?:_eq|_ne)?)!\s*[({[]/g).map((name) => `${name}!(${RUST[name]});`),
};

export const probesOf = (language: keyof typeof PROBES, text: string): string[] => PROBES[language](text);

/** In two: runners print the line that failed, and the mark must be said, not read. */
export const halves = (mark: string): string =>
  JSON.stringify([mark.slice(0, mark.length / 2), mark.slice(mark.length / 2)]);

/** JavaScript that tries the assertions of a text, and throws its id, or its mark where one of them let it pass. */
export function thrown({ id, mark, text }: { id: string; mark: string; text: string }): string {
  const probes = probesOf("javascript", text);
  const tried = probes.map((probe) => `try{${probe}}catch{n++}`).join("");
  return `let n=0;${tried}throw new Error(n===${probes.length}?"${id}":${halves(mark)}.join(""))`;
}
