/** Where the Codex program is: named by the user, installed beside pawl, or found in the PATH. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { programPath } from "../program-path.ts";

const PACKAGE = "@openai/codex";
const NAME = process.platform === "win32" ? "codex.exe" : "codex";
/** As the package names its platforms. */
const TRIPLES: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
};

type Environment = Readonly<Record<string, string | undefined>>;
type Named = Readonly<Record<string, unknown>>;

/** undefined: there is none. The native one: the package's own start script costs 300 ms and a second process. */
function codexProgram({ bin }: Named, env: Environment = process.env): string | undefined {
  return typeof bin === "string" ? programPath(bin, env) : (ownProgram() ?? programPath(NAME, env));
}

/** Throws UsageError when there is no program. Starts nothing. */
export function codexAvailable({ bin }: Named, env: Environment): string {
  const program = codexProgram({ bin }, env);
  if (program !== undefined) return program;
  if (typeof bin === "string") {
    throw new UsageError(`--agent-bin ${bin} is not a program`, { hint: "the path of the codex executable" });
  }
  throw new UsageError("the codex agent needs the codex program, which is not installed", {
    hint: `npm install -g ${PACKAGE}, or name one with --agent-bin`,
  });
}

/** Folders that must be readable for the program to run. */
export function codexFolders(named: Named): string[] {
  const program = codexProgram(named);
  if (program === undefined) return [];
  // Its helpers lie beside the folder of the program.
  return program === ownProgram() ? [dirname(dirname(program))] : [dirname(program)];
}

function ownProgram(): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  for (const name of [`${PACKAGE}-${platform}`, PACKAGE]) {
    try {
      const from = createRequire(require.resolve(`${PACKAGE}/package.json`));
      const folder = dirname(from.resolve(`${name}/package.json`));
      const program = join(folder, "vendor", TRIPLES[platform] ?? platform, "bin", NAME);
      if (existsSync(program)) return program;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}
