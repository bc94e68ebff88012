/** Where the Codex program is. */
import { dirname, join } from "node:path";
import { availableProgram, foldersOf, ownProgram, type Environment, type Program } from "../programs.ts";

const PACKAGE = "@openai/codex";
const NAME = process.platform === "win32" ? "codex.exe" : "codex";
const PLATFORM = `${process.platform}-${process.arch}`;
/** As the package names its platforms. */
const TRIPLES: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
};
const path = join("vendor", TRIPLES[PLATFORM] ?? PLATFORM, "bin", NAME);
const CODEX: Program = {
  agent: "codex",
  name: NAME,
  packaged: PACKAGE,
  places: [`${PACKAGE}-${PLATFORM}`, PACKAGE].map((packaged) => ({ packaged, path })),
};

type Named = Readonly<Record<string, unknown>>;

/** Throws UsageError when there is no program. */
export const codexAvailable = ({ bin }: Named, env: Environment): string => availableProgram(CODEX, bin, env);

/** What must be readable for the program to run. */
export function codexFolders({ bin }: Named, env: Environment): string[] {
  const own = typeof bin === "string" ? undefined : ownProgram(CODEX);
  // Its helpers lie beside the folder of the program.
  return own === undefined ? foldersOf(CODEX, bin, env) : [dirname(dirname(own))];
}
