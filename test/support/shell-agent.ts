/**
 * An agent that is a shell script, as a person's own `config.yaml` may name one: for what pawl does around a turn whoever
 * takes it. Each start of a real agent program costs as much as a whole run with this one.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir, writeFiles } from "./temp.ts";

/** What it does in the workspace, and then says. */
export type ShellTurn = readonly [does: string, says: string];

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Makes it the agent of whoever has this home: a turn for each iteration, by number; in later ones the last again. */
export function useShellAgent(home: string, turns: Readonly<Record<number, ShellTurn>>): void {
  const folder = tempDir("shell-agent");
  // Inside the fence it is another user's.
  chmodSync(folder, 0o755);
  const program = join(folder, "agent");
  // It has no session of its own: a prompt holds those before it, too, so the last is looked for first.
  const cases = Object.entries(turns)
    .toReversed()
    .map(
      ([n, [does, says]]) => `*"Iteration ${n} of"*) { ${does}\n} >/dev/null 2>&1; printf '%s\\n' ${quoted(says)} ;;`,
    );
  writeFileSync(program, ["#!/bin/sh", "case $(cat) in", ...cases, "esac", ""].join("\n"), { mode: 0o755 });
  const settings = { agent: "shell", agents: { shell: { command: [program], output: { format: "text" } } } };
  writeFiles(home, { ".config/pawl/config.yaml": JSON.stringify(settings) });
}
