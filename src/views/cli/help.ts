/** `pawl --help`: every command on one screen of 80 by 24. Details and examples are in the help of each. */
import { COMMANDS } from "./table.ts";

/** Lines of commands that belong together, with a few words for each. */
const GROUPS: readonly (readonly [title: string, lines: readonly (readonly [names: string, words: string])[]])[] = [
  ["Work", [["run solve resume fork", "a goal; a question; go on; go on another way"]]],
  ["Judge", [["check verify", "checks on this tree; a run's evidence again"]]],
  [
    "Look",
    [
      ["status watch", "where a run is; follow it live"],
      ["runs logs", "all runs, and cleaning; what the agent did"],
      ["show diff", "one iteration; what was changed"],
    ],
  ],
  [
    "Steer",
    [
      ["steer answer tasks", "tell the agent something; answer; its tasks"],
      ["interrupt pause stop", "end the turn; start no new one; end the run"],
      ["model budget", "another model, other limits for a live run"],
    ],
  ],
  ["Undo", [["restore memory worktrees", "go back; what has failed; pawl's worktrees"]]],
  [
    "Set up",
    [
      ["init config", "write pawl.yaml; show the settings"],
      ["doctor completion", "is all here; complete words in your shell"],
      ["demo standin", "see it work without a key; a scripted model"],
    ],
  ],
];

const TITLE_CHARS = 8;
const NAMES_CHARS = 26;

/** Names in it that are commands: a test holds that none is missing. */
export const helpNames = (): string[] => GROUPS.flatMap(([, lines]) => lines.flatMap(([names]) => names.split(" ")));

export function overview(): string {
  const known = (name: string): boolean => Object.hasOwn(COMMANDS, name);
  const lines = GROUPS.flatMap(([title, rows]) =>
    rows.map(([names, words], at) => {
      const shown = names.split(" ").filter(known).join(" ");
      return `${(at === 0 ? title : "").padEnd(TITLE_CHARS)}${shown.padEnd(NAMES_CHARS)}${words}`;
    }),
  );
  return `pawl drives a coding agent towards a goal until your own checks prove it.

  pawl run "make the tests pass" --check "npm test" --max-cost 5

${lines.join("\n")}

\`pawl COMMAND --help\` has options and examples; \`pawl --version\` the version.

Exit codes: 0 verified   1 not verified (claimed, stuck, stopped)
            2 wrong command line, or refused before the start   3 limit reached
            4 needs a person, or paused   5 failed   130, 143 ended by a signal
`;
}
