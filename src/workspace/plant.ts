/**
 * How a failure is planted in a test file, by language: at its end, where all that stands before it has been read, and
 * without a word that code under test could look for. Where code can change what asserting means while it runs, what is
 * planted first tries the file's own assertions on something that is wrong, and says by a mark when one of them lets it
 * pass. Pure.
 */
import { createHash } from "node:crypto";
import { halves, probesOf, thrown } from "./probes.ts";

const ID_CHARS = 12;

/** One more test of the file, which also sees what the others have changed; or the file as a whole. */
type Form = "test" | "file";

interface Language {
  files: RegExp;
  /** What a file with tests has; others of the folder are left alone. */
  tests: RegExp;
  /** What one has that is run by itself, and has its tests run by a runner. */
  runner?: RegExp;
  /** Where the tests of a file are run that is run by itself: what is planted stands before. */
  runsThem?: RegExp;
  plant(words: { id: string; mark: string; text: string; as: Form }): string;
}

const LANGUAGES: readonly Language[] = [
  {
    files: /\.[cm]?[jt]sx?$/,
    tests: /\b(?:test|it|describe|suite|specify)\b\s*[.(]/,
    runner:
      /(?:\bfrom|\brequire\s*\()\s*["'](?:node:test|bun:test|vitest|@jest\/globals|mocha|ava|tap|tape|uvu|zora|@japa\/runner)["']/,
    plant({ id, mark, text, as }) {
      const fails = thrown({ id, mark, text });
      const [, test] = as === "file" ? [] : (/(?:^|[\s;{])(test|it|specify)\s*\(/.exec(text) ?? []);
      return test === undefined ? `\n;{${fails}}\n` : `\n;${test}("${id}",()=>{${fails}});\n`;
    },
  },
  {
    files: /\.py$/,
    tests: /^\s*(?:async\s+)?def\s+test|^\s*class\s+\w*Test|\bunittest\b/m,
    runner: /\b(?:unittest|pytest)\.main\s*\(/,
    runsThem: /^(?:if __name__\s*==|(?:unittest|pytest)\.main\s*\()/m,
    plant({ id, mark, text, as }) {
      const probes = probesOf("python", text);
      const tried = probes.map((probe) => `    try: ${probe}\n    except BaseException: n += 1\n`).join("");
      const fails = `    n = 0\n${tried}    raise AssertionError("${id}" if n == ${probes.length} else "".join(${halves(mark)}))\n`;
      if (as === "file") return `\nraise AssertionError("${id}")\n`;
      // Of the file's own kind: what it takes for a TestCase may come from the product.
      const [, bases] = /^class\s+\w+\s*\(([^()]*\bTestCase\b[^()]*)\)\s*:/m.exec(text) ?? [];
      // Runners that know no such class meet a plain function.
      if (bases === undefined && !/\bunittest\b/.test(text)) return `\ndef test_${id}():\n${fails}`;
      const method = fails.replaceAll(/^/gm, "    ").trimEnd();
      // Small letters come last where classes are sorted.
      const head =
        bases === undefined ? `import unittest as u${id}\nclass t${id}(u${id}.TestCase)` : `class t${id}(${bases})`;
      return `\n${head}:\n    def test_${id}(self):\n${method}\n`;
    },
  },
  {
    files: /_test\.go$/,
    tests: /^import\s[^]*?"testing"/m,
    plant: ({ id }) => `\nfunc TestT${id}(t *testing.T) { t.Fatal() }\n`,
  },
  {
    files: /\.rs$/,
    tests: /#\[(?:\w+::)?test\b/,
    plant({ id, mark, text }) {
      const probes = probesOf("rust", text);
      if (probes.length === 0) return `\n#[test]\nfn t_${id}() { panic!() }\n`;
      const tried = probes.map((probe) => `::std::panic::catch_unwind(|| { ${probe} }).is_err()`).join(" & ");
      const [one, other] = JSON.parse(halves(mark)) as [string, string];
      return `\n#[test]\nfn t_${id}() { if ${tried} { panic!("${id}") } else { panic!("{}{}", "${one}", "${other}") } }\n`;
    },
  },
];

export const isPlantable = (path: string): boolean => LANGUAGES.some(({ files }) => files.test(path));

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, ID_CHARS);

/** What a planted failure says where an assertion of its file lets pass what is wrong. */
export const plantMark = (seed: string): string => hash(`${seed} mark`);

/** The name of the failure that is planted in a file. */
export const plantId = (seed: string, path: string): string => hash(`${seed} ${path}`);

/** undefined for a file without tests, or of a language that is not known. */
export function plantIn(path: string, text: string, { seed, as }: { seed: string; as: Form }): string | undefined {
  const language = LANGUAGES.find(({ files }) => files.test(path));
  if (language === undefined || text.includes("\0") || !language.tests.test(text)) return undefined;
  // Names must differ within a package or crate.
  const plant = language.plant({ id: plantId(seed, path), mark: plantMark(seed), text, as });
  const end = language.runsThem?.exec(text)?.index ?? text.length;
  return text.slice(0, end) + plant + text.slice(end);
}

/** Of a script: whether it hands its tests to a runner. */
export const usesRunner = (path: string, text: string): boolean =>
  LANGUAGES.find(({ files }) => files.test(path))?.runner?.test(text) === true;
