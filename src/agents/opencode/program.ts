/** Where the opencode program is. */
import { join } from "node:path";
import { availableProgram, foldersOf, type Environment, type Program } from "../programs.ts";

const NAME = "opencode";
/** As its packages are called beyond platform and processor, best first. */
const VARIANTS = ["", "-musl", "-baseline", "-baseline-musl"];
const OPENCODE: Program = {
  agent: NAME,
  name: NAME,
  packaged: "opencode-ai",
  places: VARIANTS.map((variant) => ({
    packaged: `${NAME}-${process.platform}-${process.arch}${variant}`,
    path: join("bin", NAME),
  })),
};

type Named = Readonly<Record<string, unknown>>;

/** Throws UsageError when there is no program. */
export const opencodeAvailable = ({ bin }: Named, env: Environment): string => availableProgram(OPENCODE, bin, env);

/** What must be readable for the program to run. */
export const opencodeFolders = ({ bin }: Named, env: Environment): string[] => foldersOf(OPENCODE, bin, env);
