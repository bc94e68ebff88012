/** What a file that judges takes from files beside it: modules of Node and Python, parts of a Makefile. Pure. */
import { basename, dirname, join } from "node:path/posix";

export type Kind = "shell" | "make" | "node" | "python";

export interface Import {
  path: string;
  /** It is part of the text itself, so that there is no question whose it is. */
  isWhole: boolean;
  /** Nobody complains where it is not there. */
  isOptional?: boolean;
}

const NODE_IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;
const NODE_ENDS = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.mjs", "/index.ts"];
const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([\w, \t]+)|import[ \t]+([\w., \t]+))/gm;
const MAKE_INCLUDE = /^[ ]*(-|s)?include[ \t]+([^\n#]+)/gm;

export function kindOf(path: string, text: string): Kind {
  const [first = ""] = text.split("\n", 1);
  if (/\.py$/i.test(path) || /^#!.*\bpython/.test(first)) return "python";
  if (/\.[cm]?[jt]sx?$/i.test(path) || /^#!.*\b(node|deno|bun|tsx)\b/.test(first)) return "node";
  if (first.startsWith("#!")) return "shell";
  const isMake = /^(gnu)?makefile$|\.mk$/i.test(basename(path)) || /^[\w.%/ -]+:[^=\n]*\n\t/m.test(text);
  return isMake ? "make" : "shell";
}

/** Files that may be meant, by path in the repository; which of them are there is another's question. */
export function importsOf(path: string, { text, kind }: { text: string; kind: Kind }): Import[] {
  const beside = (name: string): string => join(dirname(path), name);
  switch (kind) {
    case "node":
      return [...text.matchAll(NODE_IMPORT)].flatMap(([, name = ""]) => {
        const typed = name.replace(/\.([cm]?)js$/, ".$1ts");
        return [...NODE_ENDS.map((end) => `${name}${end}`), ...(typed === name ? [] : [typed])].map((one) => ({
          path: beside(one),
          isWhole: false,
        }));
      });
    case "python":
      return [...text.matchAll(PYTHON_IMPORT)]
        .flatMap(([, from, parts = "", names = ""]) => (from === undefined ? listed(names) : modules(from, parts)))
        .flatMap((name) => [`${name}.py`, `${name}/__init__.py`])
        .map((name) => ({ path: beside(name), isWhole: false }));
    case "make":
      return [...text.matchAll(MAKE_INCLUDE)]
        .flatMap(([, mark, names = ""]) =>
          names
            .trim()
            .split(/\s+/)
            .map((name) => ({ name, isOptional: mark !== undefined })),
        )
        .flatMap(({ name, isOptional }) => [name, beside(name)].map((path) => ({ path, isWhole: true, isOptional })));
    case "shell":
      return [];
  }
}

const listed = (names: string): string[] =>
  names.split(",").flatMap((name) => {
    const [module = ""] = name.trim().split(/\s/);
    return module === "" ? [] : [module.replaceAll(".", "/")];
  });

/** `from helpers import x` means the module, or one in it; dots before it mean folders. */
function modules(from: string, parts: string): string[] {
  const [, dots = "", rest = ""] = /^(\.*)(.*)$/.exec(from) ?? [];
  const folder = "../".repeat(Math.max(0, dots.length - 1));
  const module = `${folder}${rest.replaceAll(".", "/")}`;
  return [...(rest === "" ? [] : [module]), ...listed(parts).map((part) => join(module === "" ? "." : module, part))];
}
