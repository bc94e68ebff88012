/**
 * How a failure is planted in a test file, by language: at its end, where all that stands before it has been read, and
 * without a word that code under test could look for. Pure.
 */
import { createHash } from "node:crypto";

const ID_CHARS = 12;

interface Language {
  files: RegExp;
  /** What a file with tests has; others of the folder are left alone. */
  tests: RegExp;
  plant(id: string): string;
}

const LANGUAGES: readonly Language[] = [
  {
    files: /\.[cm]?[jt]sx?$/,
    tests: /\b(?:test|it|describe|suite|specify)\b\s*[.(]/,
    plant: (id) => `\n;throw new Error("${id}");\n`,
  },
  {
    files: /\.py$/,
    tests: /^\s*(?:async\s+)?def\s+test|^\s*class\s+\w*Test|\bunittest\b/m,
    plant: (id) => `\nraise AssertionError("${id}")\n`,
  },
  {
    files: /_test\.go$/,
    tests: /^import\s[^]*?"testing"/m,
    plant: (id) => `\nfunc TestT${id}(t *testing.T) { t.Fatal() }\n`,
  },
  {
    files: /\.rs$/,
    tests: /#\[(?:\w+::)?test\b/,
    plant: (id) => `\n#[test]\nfn t_${id}() { panic!() }\n`,
  },
];

export const isPlantable = (path: string): boolean => LANGUAGES.some(({ files }) => files.test(path));

/** undefined for a file without tests, or of a language that is not known. */
export function plantIn(path: string, text: string, { seed }: { seed: string }): string | undefined {
  const language = LANGUAGES.find(({ files }) => files.test(path));
  if (language === undefined || text.includes("\0") || !language.tests.test(text)) return undefined;
  // Names must differ within a package or crate.
  const id = createHash("sha256").update(`${seed} ${path}`).digest("hex").slice(0, ID_CHARS);
  return text + language.plant(id);
}
