/** A question about a file, answered by code that a model writes and pawl runs; each attempt is shown as it comes. */
import { exitCodeOf, solve } from "pawl";

const [question = "How many units are there?", file = "stock.csv", expect] = process.argv.slice(2);

const handle = await solve({
  question,
  files: [file],
  config: true,
  maxIterations: 6,
  maxCost: 1,
  ...(expect === undefined ? {} : { expect }),
});
console.log(`run ${handle.id}`);

for await (const fact of handle.events) {
  if (fact.type === "proposal-made") console.log(`attempt ${fact.turn}: ${fact.note}`);
  if (fact.type === "execution-recorded")
    console.log(fact.kind === "ok" ? `  printed ${fact.stdout.text.trim()}` : `  ${fact.message}`);
}

const { outcome, answer, code } = await handle.outcome;
console.log(`${outcome.is}: ${String(answer)}`);
if (code !== null) console.log(`\nby this program (${code.language}):\n\n${code.text}`);
process.exitCode = exitCodeOf(outcome, { trustPromise: true });
