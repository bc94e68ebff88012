/**
 * A failure at the end of a script that a check runs and that knows no runner: where it is not met, something ended the
 * script before its end. Only in scripts that have no other way to end well. Pure.
 */
import { extname } from "node:path";

interface Script {
  ends: RegExp;
  /** How it could end well before its last line; exits that say a failure do not count. */
  leaves: RegExp;
  /** A last line that ends it. */
  last: RegExp;
  fails: string;
}

const SHELL: Script = {
  ends: /^\.(?:sh|bash)$/,
  leaves: /(?:^|[;&|({\s])(?:exit(?!\s+[1-9]\d*\b)|exec|return)\b/,
  last: /^exit\b.*$/,
  fails: "exit 1",
};
const SCRIPTS: readonly Script[] = [
  {
    ends: /^\.[cm]?[jt]s$/,
    leaves: /\bprocess\s*\.\s*(?:exit|reallyExit|kill|abort)\b(?!\s*\(\s*[1-9]\d*\s*\))|^return\b/m,
    last: /^process\.exit\(.*$/,
    fails: ";throw new Error()",
  },
  {
    ends: /^\.py$/,
    leaves: /\b(?:sys\.exit|os\._exit|SystemExit|exit|quit)\b(?!\s*\(\s*(?:[1-9]\d*|["'][^"']*["'])\s*\))|\.main\s*\(/,
    last: /^(?:sys\.)?exit\(.*$/,
    fails: "raise AssertionError()",
  },
  SHELL,
];

/** undefined where it may end well without coming to its end. */
export function plantAtEnd(path: string, text: string): string | undefined {
  const isShell = extname(path) === "" && /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text);
  const script = isShell ? SHELL : SCRIPTS.find(({ ends }) => ends.test(extname(path)));
  if (script === undefined || text.includes("\0")) return undefined;
  const lines = text.trimEnd().split("\n");
  const end = script.last.test(lines.at(-1) ?? "") ? lines.length - 1 : lines.length;
  const before = lines.slice(0, end).join("\n");
  if (script.leaves.test(before)) return undefined;
  return `${before}\n${script.fails}\n${lines.slice(end).join("\n")}\n`;
}
