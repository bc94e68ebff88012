/**
 * The declarations that users get: those that the public API reaches, of the hundreds that `tsc` makes, and zod's, of
 * which they are made. zod's code is in the bundle, so nobody needs to install it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./bundle.ts";

const MADE = join(ROOT, ".cache/types");
const ZOD = join(ROOT, "node_modules/zod");
const FOLDER = join(ROOT, "dist/types");
/** Words of errors in sixty languages, which no type here names. */
const LOCALES = /^export \* as locales from .*\n/m;
const SPECIFIER = /(from |import\()"([^"]+)"/g;

export function writeTypes(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  const seen = new Set<string>();
  const todo = [join(MADE, "index.d.ts")];
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const from = path;
    const text = readFileSync(path, "utf8").replace(LOCALES, "");
    const written = text.replaceAll(SPECIFIER, (whole, before: string, name: string) => {
      const meant = fileOf(name, from);
      if (meant === undefined) return whole;
      todo.push(meant);
      const short = relative(dirname(placeOf(from)), placeOf(meant)).replace(/\.d\.ts$/, ".js");
      return `${before}"${short.startsWith(".") ? short : `./${short}`}"`;
    });
    mkdirSync(dirname(placeOf(path)), { recursive: true });
    writeFileSync(placeOf(path), written);
  }
}

/** undefined: a module of Node's own. */
function fileOf(name: string, from: string): string | undefined {
  if (name.startsWith(".")) return join(dirname(from), name.replace(/\.[jt]s$/, ".d.ts"));
  if (name === "zod") return join(ZOD, "index.d.ts");
  if (name.startsWith("node:")) return undefined;
  throw new Error(`${relative(ROOT, from)} shows the types of ${name}, which users need not have installed`);
}

const placeOf = (path: string): string =>
  path.startsWith(ZOD) ? join(FOLDER, "zod", relative(ZOD, path)) : join(FOLDER, relative(MADE, path));
