/** Which tests are a file's, and which file a test is in, told by ids alone. Pure. */

export interface Among {
  /** All that the base ran: they show what a name in front stands for. */
  ids: readonly string[];
  /** As go.mod at the top of the tree has it. */
  goModule?: string | undefined;
}

/** Whether it is sure that a test is the file's: by the file in front; of Go the package, of Java and unittest the class in its place. */
export function isTestOf(id: string, path: string, { ids, goModule }: Among): boolean {
  const first = firstOf(id);
  if (RUST_ROOT.test(first)) return first === path && isOfRustRoot(id, ids);
  if (first === path) return true;
  if (path.endsWith("_test.go")) return isOfPackage(first, path, goModule);
  const [stem = path] = path.split(/\.[^./]+$/);
  const dotted = stem.replaceAll("/", ".");
  return first.includes(".") && (dotted.endsWith(first) || first.startsWith(`${dotted}.`));
}

const firstOf = (id: string): string => id.split(" > ")[0]?.split("::")[0] ?? id;

function isOfPackage(name: string, path: string, goModule: string | undefined): boolean {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (goModule !== undefined && (name === goModule || name.startsWith(`${goModule}/`)))
    return name === (folder === "" ? goModule : `${goModule}/${folder}`);
  return folder !== "" && name.endsWith(`/${folder}`);
}

/** cargo has the tests of all files of a program below the first of them. */
const RUST_ROOT = /(?:^|\/)src\/(?:lib|main|bin\/[^/]+)\.rs$/;
/** In the file itself, or in the module for tests that such a file has. */
const OWN_TEST = /^(?:tests?::)?[^:]+$/;

function isOfRustRoot(id: string, ids: readonly string[]): boolean {
  const [first, program, name = ""] = id.split(" > ");
  const programs = new Set(ids.filter((one) => firstOf(one) === first).map((one) => one.split(" > ")[1]));
  // Crates of one workspace all call it the same.
  return programs.size === 1 && programs.has(program) && OWN_TEST.test(name);
}

const SOURCE = /\.(?:[cm]?[jt]sx?|vue|svelte|py)$/;

/** Where a test is written, as far as its id tells. */
export interface TestPlace {
  /** Files that it may be in, the likeliest first; of Go the folder with all of them. */
  files: readonly string[];
  folder?: string;
  /** From the outermost to its own, as they may stand in the text. */
  names: readonly string[];
}

export function placeOf(id: string, goModule: string | undefined): TestPlace | undefined {
  const [first = "", ...rest] = id.split(" > ");
  const [file = "", ...inFile] = first.split("::");
  if (file.endsWith(".py")) return { files: [file], names: inFile.map((name) => name.replace(/\[.*$/s, "")) };
  if (SOURCE.test(first)) return rest.length === 0 ? undefined : { files: [first], names: rest };
  if (goModule !== undefined && (first === goModule || first.startsWith(`${goModule}/`)))
    return { files: [], folder: first.slice(goModule.length + 1), names: rest.flatMap((name) => name.split("/")) };
  const parts = id.split(".");
  if (rest.length > 0 || parts.length < 3 || !parts.every((part) => /^\w+$/.test(part))) return undefined;
  // unittest: modules, a class, a test.
  const modules = parts.slice(0, -2);
  return { files: [`${modules.join("/")}.py`, `tests/${modules.join("/")}.py`], names: parts.slice(-2) };
}
