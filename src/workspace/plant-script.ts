/**
 * A failure at the end of a script that a check runs and that knows no runner: where it is not met, something ended the
 * script before its end. Only in scripts that have no other way to end well. Pure.
 */
import { extname } from "node:path";
import { atNodeEnd } from "./node-end.ts";
import { plainCode } from "./plain-code.ts";
import { thrown } from "./probes.ts";

interface Script {
  ends: RegExp;
  shebang: RegExp;
  /** Without what is no code, where that can be told. */
  code(text: string): string;
  /** How it could end well before its last line; exits that say a failure do not count. */
  leaves: RegExp;
  /** A last line that ends it, and what it ends with. */
  last: RegExp;
  /** Fails by something thrown, after the script's own assertions were tried on what is wrong. */
  throws(words: Words & { text: string }): string;
  /** Fails by the exit that the script itself uses, where it does. */
  exits: { uses: RegExp; fails: string };
  /** In place of a last line whose `given` has to be worked out. */
  instead(given: string, fails: string): string;
  /** The text with the failure at its end; undefined where nobody can tell. */
  atEnd(text: string, fails: string): string | undefined;
}

interface Words {
  id: string;
  /** Said where an assertion lets pass what is wrong. */
  mark: string;
}

/** Product code may have changed one of the two ways that a script has to fail. */
export type Way = "throw" | "exit";

const appended = (text: string, fails: string): string => `${text.trimEnd()}\n${fails}\n`;
const asIs = (text: string): string => text;

const SCRIPTS: readonly Script[] = [
  {
    ends: /^\.[cm]?[jt]s$/,
    shebang: /^#!.*\b(?:node|tsx|bun)\b/,
    code: plainCode,
    leaves:
      /\bprocess\s*\.\s*(?:exit|reallyExit|kill|abort)\b(?!\s*\(\s*[1-9]\d*\s*\))|(?<![\w$.])exit\s*\((?!\s*[1-9]\d*\s*\))|^return\b/m,
    last: /^process\.exit\((.*)\);?$/,
    throws: ({ id, mark, text }) => `{${thrown({ id, mark, text })}}`,
    exits: { uses: /\bprocess\.exit\b/, fails: "process.exit(1)" },
    instead: (given, fails) => `;void (${given});${fails}`,
    atEnd: atNodeEnd,
  },
  {
    ends: /^\.py$/,
    shebang: /^#!.*\bpython/,
    code: asIs,
    leaves:
      /\b(?:sys\.exit|os\._exit|SystemExit|exit|quit)\b(?!\s*\(\s*(?:[1-9]\d*|["'][^"']*["'])\s*\))|\.main\s*\(|\batexit\b/,
    last: /^\s*(?:(?:sys\.)?exit|raise SystemExit)\((.*)\)$/,
    throws: ({ id }) => `raise AssertionError("${id}")`,
    exits: { uses: /\bsys\.exit\b/, fails: "sys.exit(1)" },
    instead: (given, fails) => `(${given}); ${fails}`,
    atEnd: appended,
  },
  {
    ends: /^\.(?:sh|bash)$/,
    shebang: /^#!.*\b(?:ba|da|z|k)?sh\b/,
    code: asIs,
    leaves: /(?:^|[;&|({\s'"])(?:exit(?!\s+[1-9]\d*\b)|exec(?!\s+[<>&\d]))\b/m,
    last: /^(?:exit\b[^`(]*|exec\s+(?![<>&\d])(.*))$/,
    throws: ({ id }) => `echo ${id} >&2; exit 1`,
    exits: { uses: /(?!)/, fails: "" },
    instead: (given, fails) => `${given} || exit\n${fails}`,
    atEnd: appended,
  },
];

/** undefined where it may end well without coming to its end, or where nobody can tell. */
export function plantAtEnd(path: string, text: string, { way, ...words }: Words & { way: Way }): string | undefined {
  const ending = extname(path);
  const script = SCRIPTS.find((one) => (ending === "" ? one.shebang.test(text) : one.ends.test(ending)));
  if (script === undefined || text.includes("\0")) return undefined;
  const lines = text.trimEnd().split("\n");
  const last = lines.at(-1) ?? "";
  const [ends, given] = script.last.exec(last) ?? [];
  const before = ends === undefined ? text : `${lines.slice(0, -1).join("\n")}\n`;
  if (script.leaves.test(script.code(before))) return undefined;
  if (way === "exit" && !script.exits.uses.test(script.code(text))) return undefined;
  const fails = way === "exit" ? script.exits.fails : script.throws({ ...words, text });
  if (ends === undefined) return script.atEnd(text, fails);
  const indent = /^\s*/.exec(last)?.[0] ?? "";
  // What it ends with may be all that the script does.
  const isWork = given !== undefined && (/[(`$]/.test(given) || script.ends.test(".sh"));
  const planted = isWork ? script.instead(given, fails) : `${fails}\n${last}`;
  if (script.atEnd(before, fails) === undefined) return undefined;
  return `${before}${indent}${planted.trimStart()}\n`;
}
