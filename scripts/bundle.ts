/**
 * Bundles of the sources: some 170 files instead of 570, with what of zod and commander is used. Loading many small modules
 * was a third of a start (docs/decisions/0016-bundled.md).
 */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { rolldown, type OutputChunk, type RolldownBuild } from "rolldown";
import { minifySync } from "rolldown/utils";

export const ROOT = join(import.meta.dirname, "..");
const SOURCES = join(ROOT, "src");
/** Their code becomes part of ours, so their licences come along. */
const TAKEN_IN = ["commander", "zod"];
/** Plain JavaScript, and a script of the shell, that other processes run as they are. */
const PLAIN = ["checks/runners", "agents/messages"];

interface Bundle {
  /** Sources by the name of what is made of them. */
  entries: Record<string, string>;
  /** Emptied first. All shared parts lie in it side by side: src/platform/own.ts counts on it. */
  folder: string;
  together?: Together;
  /** Entries that also a Node that is too old must be able to load, to say so. */
  plain?: readonly string[];
}

/**
 * Names of parts, each with the sources of which all that they load at once becomes that part; the first that loads a
 * source has it. What is APART stays as it is without: a part is what the same entries and imports on use have in common.
 */
export type Together = readonly (readonly [part: string, sources: readonly string[]])[];
export const APART = "";

export async function bundle({ entries, folder, together = [], plain = [] }: Bundle): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const made = await rolldown({
    input: entries,
    platform: "node",
    external: isForeign,
    checks: QUIET,
    preserveEntrySignatures: "allow-extension",
  });
  const partOf = await partsOf(made, together);
  const { output } = await made.write({
    dir: folder,
    ...FORM,
    codeSplitting: { groups: [{ name: partOf, debugName: "together" }], includeDependenciesRecursively: false },
  });
  const parts = output.filter((part): part is OutputChunk => part.type === "chunk");
  const everywhere = new Set(
    parts.filter(({ name }) => plain.includes(name)).flatMap(({ fileName, imports }) => [fileName, ...imports]),
  );
  for (const { fileName, code, moduleIds } of parts)
    if (!everywhere.has(fileName))
      writeFileSync(join(folder, fileName), `${small(fileName, withoutFacades(code))}${madeOf(moduleIds)}`);
  for (const place of PLAIN) {
    mkdirSync(join(folder, place), { recursive: true });
    for (const file of readdirSync(join(SOURCES, place)).filter((name) => /\.(?:[cm]js|sh)$/.test(name)))
      copyFileSync(join(SOURCES, place, file), join(folder, place, file));
  }
  const licences = TAKEN_IN.map(
    (name) => `${name}\n\n${readFileSync(join(ROOT, "node_modules", name, "LICENSE"), "utf8")}`,
  );
  writeFileSync(join(folder, "LICENSES"), licences.join("\n\n"));
}

/** At the top of a part, one a line. */
const OF_NODE = /^import (?:(\w+(?:\$\d+)?)(?:, | ))?(?:\{ (.*) \} )?from ("node:[\w/]+");$/;

/**
 * An ES import of a module of Node's reads all that it exports, and much of that is loaded when it is read: all of
 * WebCrypto for one hash, a stream for the terminal for one comparison. Taken this way only what is named is.
 */
function withoutFacades(code: string): string {
  const lines = code.split("\n");
  const end = lines.findIndex((line) => !/^(#!|import )/.test(line));
  return lines
    .map((line, at) => {
      const [, whole, named, from] = (at < end ? OF_NODE.exec(line) : null) ?? [];
      if (from === undefined) return line;
      const taken = [whole, named === undefined ? undefined : `{ ${named.replaceAll(" as ", ": ")} }`];
      const builtin = `process.getBuiltinModule(${from})`;
      return `const ${taken.flatMap((one) => (one === undefined ? [] : `${one} = ${builtin}`)).join(", ")};`;
    })
    .join("\n");
}

/**
 * V8 keeps the text of what it has loaded, and takes two bytes for every character of a text with a single one beyond
 * Latin-1. Names and lines stay, for stack traces.
 */
function small(fileName: string, code: string): string {
  const codegen = { removeWhitespace: false, asciiOnly: true } as const;
  const { code: made, errors } = minifySync(fileName, code, { compress: false, mangle: false, codegen });
  if (errors.length > 0) throw new Error(`${fileName}: ${errors.map(({ message }) => message).join("; ")}`);
  return made;
}

/** What a part was made of, a line each. */
const madeOf = (sources: readonly string[]): string => sources.map((path) => `\n// ${relative(ROOT, path)}`).join("");

const FORM = { format: "esm", chunkFileNames: "[name].js" } as const;

/** Which part a source becomes part of, by what each loads when nothing is put together. Entries stay as they are. */
async function partsOf(made: RolldownBuild, together: Together) {
  const { output } = await made.generate(FORM);
  const parts = output.filter((part): part is OutputChunk => part.type === "chunk");
  const loadedBy = (source: string): Set<OutputChunk> => {
    const found = new Set(parts.filter(({ moduleIds }) => moduleIds.includes(source)));
    if (found.size === 0) throw new Error(`${source} is not part of the bundle`);
    for (const part of found) for (const other of parts) if (part.imports.includes(other.fileName)) found.add(other);
    return found;
  };
  const names = new Map<string, string>();
  for (const [name, sources] of together) {
    for (const { isEntry, moduleIds } of sources.flatMap((source) => [...loadedBy(source)])) {
      for (const id of isEntry ? [] : moduleIds) if (!names.has(id)) names.set(id, name);
    }
  }
  return (id: string): string | null => names.get(id) || null;
}

/** A module imported both at once and on use is what a fast start is made of here. */
const QUIET = { ineffectiveDynamicImport: false };

function isForeign(id: string): boolean {
  if (id.startsWith(".") || id.startsWith("/")) return false;
  return !TAKEN_IN.some((name) => id === name || id.startsWith(`${name}/`));
}

export const source = (path: string): string => join(SOURCES, path);
