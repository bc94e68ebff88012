/** `pawl logs`: what the agent said and did, and the facts, past and live. */
import { Option, type Command } from "commander";
import { EXIT } from "../../../errors.ts";
import { factWords } from "../../fact-words.ts";
import { traceWords } from "../../trace-words.ts";
import { timeOfDay } from "../format.ts";
import { comingLines, pastLines, type LogLine } from "../log-lines.ts";
import { note, print, printJson } from "../output.ts";
import { wholeNumber, withRun } from "../reading.ts";

interface Options {
  follow?: boolean;
  facts?: boolean;
  trace?: boolean;
  turn?: number;
  json?: boolean;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("-f, --follow", "go on as it happens, until the run ends")
    .addOption(new Option("--facts", "only the facts").conflicts("trace"))
    .addOption(new Option("--trace", "only what the agent said and did"))
    .option("--turn <n>", "only this turn", wholeNumber("--turn"))
    .option("--json", "facts as in the journal, lines of the trace with type `trace`; one a line")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      await withRun(asked, async ({ state, row }) => {
        const { facts = false, trace = false, turn, json = false, follow = false } = options;
        const request = { run: row.run, facts: !trace, trace: !facts, turn };
        const show = (line: LogLine): void => (json ? printJson(asJson(line, row.run)) : showText(line));
        const past = { request, facts: await state.journal.read(row.run) };
        const { lines, after, ended } = pastLines(state, past);
        for await (const line of lines) show(line);
        if (!follow || ended) return;
        if (row.owner === undefined) note(`nobody drives this run now; it goes on with: pawl resume ${row.run}`);
        const { signal } = new AbortController();
        for await (const line of comingLines(state, { request, after, signal })) show(line);
      });
      exit(EXIT.ok);
    });
}

function asJson(line: LogLine, run: string): unknown {
  if (line.is === "fact") return line.fact;
  const { at, turn, kind, data } = line.line;
  return { type: "trace", run, n: line.n, at, turn, kind, data };
}

function showText(line: LogLine): void {
  const words = line.is === "fact" ? factWords(line.fact) : traceWords(line.line);
  if (words === undefined || words === "") return;
  const before = `${timeOfDay(line.at)} ${line.is === "fact" ? "•" : " "} `;
  print(before + words.replaceAll("\n", `\n${" ".repeat(before.length)}`));
}

const EXAMPLES = `
Lines with • are facts; the others are the agent's stream.

Examples:
  pawl logs --follow
  pawl logs r-20261115-k3f --turn 3
  pawl logs --facts --json | jq 'select(.type == "check-end")'
`;
