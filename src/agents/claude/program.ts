/** Where Claude Code's program is: named by the user, brought by the Agent SDK beside pawl, or found in the PATH. */
import { availableProgram, foldersOf, programOf, type Environment, type Program } from "../programs.ts";

/** What all tests are run with. */
export const TESTED = "2.1.325";
/** Of the Agent SDK that brings it. */
const TESTED_SDK = "0.3.325";

const NAME = "claude";
const PACKAGE = "@anthropic-ai/claude-agent-sdk";
export const TESTED_PACKAGE = `${PACKAGE}@${TESTED_SDK}`;
const PLATFORM = `${PACKAGE}-${process.platform}-${process.arch}`;
const CLAUDE: Program = {
  agent: NAME,
  name: NAME,
  packaged: PACKAGE,
  version: TESTED_SDK,
  places: [PLATFORM, `${PLATFORM}-musl`].map((packaged) => ({ packaged, path: NAME })),
};

type Named = Readonly<{ bin?: unknown }>;

/** Throws UsageError when there is no program. Starts nothing, loads nothing. */
export const claudeAvailable = ({ bin }: Named, env: Environment): string => availableProgram(CLAUDE, bin, env);

/** undefined: there is none. */
export const claudeProgram = ({ bin }: Named, env: Environment): string | undefined => programOf(CLAUDE, bin, env);

/** What must be readable for the program to run. */
export const claudeFolders = ({ bin }: Named, env: Environment): string[] => foldersOf(CLAUDE, bin, env);

/** What people should know of a version; undefined: nothing, or it is none. */
export function untested(said: string): string | undefined {
  const version = /\d+(\.\d+)+/.exec(said)?.[0];
  if (version === undefined || version === TESTED) return undefined;
  return `Claude Code ${version} is not the version that pawl is tested with, ${TESTED}`;
}
