/** Which tests are a file's, told by their ids alone. Where that cannot be told a test is not the file's. Pure. */

export interface Among {
  /** All that the base ran: they show what a name in front stands for. */
  ids: readonly string[];
  /** As go.mod at the top of the tree has it. */
  goModule?: string | undefined;
}

/** By the file in front; of Go the package, of Java and unittest the class in its place. */
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
