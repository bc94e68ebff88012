/**
 * Paths by pattern: `**` any folders, `*` and `?` within a name, `{a,b}` either. A pattern also means everything below
 * what it names. Letters of either size count: some file systems know no difference.
 */

const SPECIAL = /\*\*\/?|[\\^$.|+()[\]{}*?/,]/g;

/** Names that have been looked at; folders come again and again. */
const MAX_KNOWN_NAMES = 10_000;

/** True for a path (relative, with `/`) that one of the patterns means. */
export function globMatcher(patterns: readonly string[]): (path: string) => boolean {
  // Most mean a name wherever it stands: asked name by name, that is many times faster than one expression for all.
  const names = patterns.filter(isName).map((pattern) => pattern.slice("**/".length));
  const plain = new Set(patterns.filter((pattern) => !WILD.test(pattern)).map((pattern) => pattern.toLowerCase()));
  const isMeant = regExp(
    patterns.filter((pattern) => WILD.test(pattern) && !isName(pattern)),
    "(?:/[^]*)?",
  );
  const isNamed = remembering(regExp(names, ""));
  return (path) => path.split("/").some(isNamed) || isMeant(path) || isBelow(path.toLowerCase(), plain);
}

const WILD = /[*?{}]/;

/** Itself, or in a folder of that path. */
function isBelow(path: string, plain: ReadonlySet<string>): boolean {
  if (plain.size === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1))
    if (plain.has(path.slice(0, end))) return true;
  return false;
}

const isName = (pattern: string): boolean => /^\*\*\/[^/]+$/.test(pattern) && !pattern.includes("**", 1);

function regExp(patterns: readonly string[], end: string): (text: string) => boolean {
  if (patterns.length === 0) return () => false;
  const any = new RegExp(`^(?:${patterns.map(sourceOf).join("|")})${end}$`, "iu");
  return (text) => any.test(text);
}

function remembering(test: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= MAX_KNOWN_NAMES) known.clear();
    const found = test(text);
    known.set(text, found);
    return found;
  };
}

/** As people write them: a name alone is meant wherever it stands, a folder may end in `/`. */
export function spelledOut(pattern: string): string {
  const bare = pattern.replace(/^(\.?\/)+/, "").replace(/(\/\*\*)?\/*$/, "");
  if (bare === "" || bare === "**") return "**";
  return bare.includes("/") || pattern.startsWith("/") || pattern.startsWith("./") ? bare : `**/${bare}`;
}

/** One native pass: hundreds of patterns are read at every start, when nothing of ours runs compiled yet. */
function sourceOf(glob: string): string {
  let depth = 0;
  const closed = closedBraces(glob);
  return glob.replace(SPECIAL, (found) => {
    if (found === "**/") return "(?:[^]*/)?";
    if (found === "**") return "[^]*";
    if (found === "*") return "[^/]*";
    if (found === "?") return "[^/]";
    if (found === "{" && closed) {
      depth += 1;
      return "(?:";
    }
    if (found === "}" && closed) {
      depth -= 1;
      return ")";
    }
    if (found === ",") return depth > 0 ? "|" : ",";
    return `\\${found}`;
  });
}

/** Otherwise they stand for themselves. */
function closedBraces(glob: string): boolean {
  let depth = 0;
  for (const brace of glob.match(/[{}]/g) ?? []) {
    depth += brace === "{" ? 1 : -1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
