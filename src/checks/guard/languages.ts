/** How tests, assertions and skipped tests are written, by language: enough to count them, not to understand them. */
import { lookUp } from "../../platform/look-up.ts";

export interface Language {
  /** Each match is one test; the first group, where there is one, its name. */
  tests: RegExp;
  assertions: RegExp;
  /** Assertions that hold whatever the code does. */
  idle: RegExp;
  /** Tests that are not run, or whose failure does not count; also what keeps the others from being run. */
  skips: RegExp;
  comments: RegExp;
}

/** At the start of a line or the end of one: inside a line `/*` is as often part of a pattern of paths. */
const SLASH_COMMENTS = /^[ \t]*\/\/.*$|(?:^[ \t]*\/\*|\/\*[ \t]*$)[^]*?(?:\*\/|$(?![^]))/gm;
const HASH_COMMENTS = /^[ \t]*#.*$/gm;

const JAVASCRIPT: Language = {
  tests:
    /(?<![.\w])(?:it|test|specify)(?:\.(?!describe|before|after|use\b|step|extend)\w+)*\s*(?:\(\s*(?:["'`]([^"'`\n]*))?|`)/g,
  assertions:
    /(?<![.\w])(?:expect|assert(?:\.\w+)*)\s*\(|\.should\b|(?<![.\w])t\.(?:assert\.\w+|is|not|deepEqual|notDeepEqual|true|false|truthy|falsy|throws|rejects|like|regex|snapshot|equal|same|ok)\s*\(/g,
  idle: /(?<![.\w])expect\s*\(\s*(?:true|false|null|undefined|\d+|"[^"\n]*"|'[^'\n]*')?\s*\)\s*\.|(?<![.\w])expect\s*\(\s*([^()\n]+?)\s*\)\s*\.\w+\(\s*\1\s*\)|(?<![.\w])assert(?:\.ok)?\s*\(\s*(?:true|1)\s*[,)]|(?<![.\w])assert\.\w+\s*\(\s*([^(),\n]+?)\s*,\s*\2\s*[,)]/g,
  skips:
    /(?<![.\w])(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|only|failing|fails|fixme)\b|(?<![.\w])[xf](?:it|test|describe|context|specify)\s*[(.]|(?<![.\w])pending\s*\(|(?<![.\w])(?:this|t|ctx|context)\.(?:skip|todo)\s*\(|[{,]\s*(?:skip|todo|only)\s*:\s*(?!false)|\bif\s*\(\s*(?:false|0|!1)\s*\)|\bprocess\.exit\s*\(/g,
  comments: SLASH_COMMENTS,
};

const PYTHON: Language = {
  tests: /^[ \t]*(?:async\s+)?def\s+(test\w*)\s*\(/gm,
  assertions: /^[ \t]*assert\b|\bself\.(?:assert\w+|fail)\s*\(|\bpytest\.(?:raises|warns|approx)\b/gm,
  idle: /^[ \t]*assert\s+\(?(?:True|1|not\s+False|not\s+None|"[^"\n]+"|'[^'\n]+')\)?\s*(?:$|,|#|or\b)|^[ \t]*assert\s+(\S+)\s*==\s*\1\s*(?:$|,|#)|^[ \t]*assert\b.*\bor\s+True\s*$|\bself\.assertTrue\s*\(\s*True\b|\bself\.assertEqual\s*\(\s*([^(),\n]+?)\s*,\s*\2\s*[,)]/gm,
  skips:
    /@(?:pytest\.mark\.)?(?:skip|skipif|xfail)\b|@(?:unittest\.)?(?:skip(?:If|Unless)?|expectedFailure)\b|\bpytest\.(?:skip|xfail|exit|importorskip)\s*\(|\bself\.skipTest\s*\(|\bpytestmark\s*=|\braise\s+(?:unittest\.)?SkipTest\b|\bif\s+(?:False|0)\s*:|\b(?:os\._exit|sys\.exit)\s*\(|\bcollect_ignore|\b__test__\s*=\s*False/g,
  comments: /^[ \t]*#.*$|^[ \t]*[rRbBuUfF]{0,2}("""|''')[^]*?(?:\1|$(?![^]))/gm,
};

const GO: Language = {
  tests: /^func\s+((?:Test|Fuzz|Example)\w*)\s*\(|\bt\.Run\s*\(\s*"([^"\n]*)/gm,
  assertions: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require)\.\w+\s*\(/g,
  idle: /\b(?:assert|require)\.True\s*\(\s*t\s*,\s*true\b|\b(?:assert|require)\.Equal\s*\(\s*t\s*,\s*([^(),\n]+?)\s*,\s*\1\s*[,)]|\bif\s+false\b/g,
  skips:
    /\b[tbf]\.Skip(?:f|Now)?\s*\(|\btesting\.Short\s*\(\)|^\/\/go:build\s+(?:ignore|never)\b|\bos\.Exit\s*\(\s*0\s*\)/gm,
  // A build line is a comment that does something.
  comments: /^[ \t]*\/\/(?!go:build).*$|(?:^[ \t]*\/\*|\/\*[ \t]*$)[^]*?(?:\*\/|$(?![^]))/gm,
};

const RUST: Language = {
  tests: /#\[(?:\w+::)*(?:test|rstest)\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/g,
  assertions: /\b(?:debug_)?assert(?:_\w+)?!\s*[([{]|\bpanic!\s*\(/g,
  idle: /\bassert!\s*\(\s*true\s*[,)]|\bassert_eq!\s*\(\s*([^(),\n]+?)\s*,\s*\1\s*[,)]/g,
  skips:
    /#!?\[\s*ignore\b|#!?\[cfg\(any\(\)\)\]|#!?\[cfg\(not\(test\)\)\]|\bprocess::exit\s*\(\s*0\s*\)|\bif\s+false\b/g,
  comments: SLASH_COMMENTS,
};

const JAVA: Language = {
  tests: /@(?:Test|ParameterizedTest|RepeatedTest)\b(?:[^;{]*?\b(?:void|fun)\s+(\w+|`[^`]+`))?/g,
  assertions: /\bassert\w*\s*[({]|\bverify\s*\(|\bfail\s*\(/g,
  idle: /\bassertTrue\s*\(\s*true\s*\)|\bassertEquals\s*\(\s*([^(),\n]+?)\s*,\s*\1\s*\)/g,
  skips: /@(?:Disabled\w*|Ignore)\b|\benabled\s*=\s*false\b|\bassumeTrue\s*\(\s*false\b|\bSystem\.exit\s*\(/g,
  comments: SLASH_COMMENTS,
};

const RUBY: Language = {
  tests: /^[ \t]*(?:it|specify|scenario|test)\s*\(?\s*["']([^"'\n]*)|^[ \t]*def\s+(test_\w+)/gm,
  assertions: /\bexpect\b\s*[({]|\bassert\w*\b|\brefute\w*\b|\.must_\w+/g,
  idle: /\bexpect\s*\(\s*true\s*\)|\bassert\s*\(?\s*true\b/g,
  skips:
    /^[ \t]*(?:x(?:it|describe|context|specify)|skip|pending|f(?:it|describe|context))\b|,\s*(?:skip|pending|focus)\s*:\s*(?!false)|\bexit!?\s*\(?0?\b/gm,
  comments: HASH_COMMENTS,
};

const BY_ENDING: Readonly<Record<string, Language>> = {
  ...each("js mjs cjs jsx ts mts cts tsx vue svelte", JAVASCRIPT),
  ...each("py pyi", PYTHON),
  go: GO,
  rs: RUST,
  ...each("java kt kts groovy scala", JAVA),
  rb: RUBY,
};

function each(endings: string, language: Language): Record<string, Language> {
  return Object.fromEntries(endings.split(" ").map((ending) => [ending, language]));
}

export const languageOf = (path: string): Language | undefined =>
  lookUp(BY_ENDING, (/\.([^./]+)$/.exec(path)?.[1] ?? "").toLowerCase());

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testing|integration-tests?)\//i;
const TEST_NAME =
  /(?:[._-](?:test|tests|spec|e2e|cy)\.[^/]+|^test_[^/]*|[^/]*_test\.[^/.]+|[^/]*(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy))$/;

/** Of a file in a folder of tests, or with the name of one. */
export function isTestPath(path: string): boolean {
  return TEST_FOLDER.test(path) || TEST_NAME.test(path.slice(path.lastIndexOf("/") + 1));
}
