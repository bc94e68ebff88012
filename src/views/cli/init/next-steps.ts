/** What to do after `pawl init`, and how a run is started here: only commands that would work as they stand. Pure. */
import { PROJECT_FILE } from "../../../config.ts";
import { shellWord } from "../../../platform/shell-word.ts";
import { commandLine, type Found } from "./detect.ts";

/** Without a check `pawl check` would only say that there is none. */
export function nextSteps({ hasChecks }: { hasChecks: boolean }): string {
  const first = hasChecks
    ? "pawl check                                            # does it judge what is here now?"
    : `put a command that proves the work under \`checks\` in ${PROJECT_FILE}`;
  return `Next
  ${first}
  git add ${PROJECT_FILE} && git commit -m "Settings for pawl"   # a run starts from a clean tree
  pawl run "your goal"`;
}

/** `found`: what would judge, where the settings name nothing. */
export function startLine({ hasChecks, found }: { hasChecks: boolean; found: Found | undefined }): string {
  if (hasChecks) return 'pawl run "your goal"';
  return `pawl run "your goal" --check ${found === undefined ? '"COMMAND"' : quoted(commandLine(found))}`;
}

const quoted = (command: string): string => (/["$`\\!]/.test(command) ? shellWord(command) : `"${command}"`);
