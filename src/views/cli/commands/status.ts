/** `pawl status`: where a run is. Loads the journal's reader and the fold, and nothing else, to start fast. */
import type { Command } from "commander";
import { EXIT } from "../../../errors.ts";
import { isSuspended } from "../../../platform/owner.ts";
import { inTheWay } from "../in-the-way.ts";
import { print, printJson } from "../output.ts";
import { readRun, withRun } from "../reading.ts";
import { statusText } from "../status-text.ts";
import { statusView } from "../status-view.ts";

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("--json", "one object on stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, { json = false }: { json?: boolean }) => {
      await withRun(asked, async (opened) => {
        const { folded, facts, row, state } = await readRun(opened);
        const queued = await state.inbox.queued(row.run);
        const suspended = row.owner !== undefined && isSuspended(row.owner);
        const mayResume = row.owner === undefined && folded.outcome?.is !== "verified";
        const found = mayResume ? inTheWay(folded) : undefined;
        const view = statusView(folded, { row, facts, queued, now: Date.now(), suspended, inTheWay: found });
        if (json) printJson(view);
        else print(statusText(view));
      });
      exit(EXIT.ok);
    });
}

const EXAMPLES = `
Examples:
  pawl status                       the newest run of this repository
  pawl status r-20261115-k3f        any unique beginning of a name
  pawl status --json | jq .phase
`;
