/**
 * Paths by pattern, as people know it from .gitignore: `*` and `?` within a name, `**` across folders, `{a,b}`. A
 * pattern without a slash means a name at any depth; what matches a folder matches everything below it.
 */

export function globs(patterns: readonly string[]): (path: string) => boolean {
  const all = patterns.map(globOf);
  return (path) => all.some((one) => one.test(path));
}

function globOf(pattern: string): RegExp {
  const clean = pattern.replace(/^\.?\//, "").replace(/\/+$/, "");
  if (clean === "**") return /^/;
  const isName = !clean.includes("/") && !pattern.startsWith("/");
  return new RegExp(`^${isName ? "(?:.*/)?" : ""}${alternatives(clean)}(?:/.*)?$`, "su");
}

/** Braces one level deep; any other are characters. */
function alternatives(pattern: string): string {
  const parts = pattern.split(/\{([^{}]*)\}/);
  return parts
    .map((part, at) => (at % 2 === 0 ? sourceOf(part) : `(?:${part.split(",").map(sourceOf).join("|")})`))
    .join("");
}

function sourceOf(pattern: string): string {
  return pattern.replaceAll(/\*\*\/|\/\*\*$|\*+|\?|[^*?/]+|\//g, (token) => {
    if (token === "**/") return "(?:[^/]+/)*";
    if (token === "/**") return "/.+";
    if (token.startsWith("*")) return "[^/]*";
    return token === "?" ? "[^/]" : token.replaceAll(/[\\^$.|+()[\]{}]/g, String.raw`\$&`);
  });
}
