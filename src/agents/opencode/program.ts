/** Where the opencode program is: named by the user, installed beside pawl, or found in the PATH. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { programPath } from "../program-path.ts";

const PACKAGE = "opencode-ai";
const NAME = "opencode";
/** As its packages are called beyond platform and processor, best first. */
const VARIANTS = ["", "-musl", "-baseline", "-baseline-musl"];

type Environment = Readonly<Record<string, string | undefined>>;
type Named = Readonly<Record<string, unknown>>;

/** undefined: there is none. The native one: the package's own is only a link to it, made by an install script. */
function programOf({ bin }: Named, env: Environment): string | undefined {
  return typeof bin === "string" ? programPath(bin, env) : (ownProgram() ?? programPath(NAME, env));
}

/** Throws UsageError when there is no program. Starts nothing. */
export function opencodeAvailable({ bin }: Named, env: Environment): string {
  const program = programOf({ bin }, env);
  if (program !== undefined) return program;
  if (typeof bin === "string") {
    throw new UsageError(`--agent-bin ${bin} is not a program`, { hint: "the path of the opencode executable" });
  }
  throw new UsageError("the opencode agent needs the opencode program, which is not installed", {
    hint: `npm install -g ${PACKAGE}, or name one with --agent-bin`,
  });
}

/** Folders that must be readable for the program to run. */
export function opencodeFolders(named: Named): string[] {
  const program = programOf(named, process.env);
  return program === undefined ? [] : [dirname(program)];
}

function ownProgram(): string | undefined {
  const require = createRequire(import.meta.url);
  for (const variant of VARIANTS) {
    try {
      const from = createRequire(require.resolve(`${PACKAGE}/package.json`));
      const name = `opencode-${process.platform}-${process.arch}${variant}`;
      const program = join(dirname(from.resolve(`${name}/package.json`)), "bin", NAME);
      if (existsSync(program)) return program;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}
