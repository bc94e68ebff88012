/** The smallest useful program: a goal, a check, limits, and what came of it. */
import { exitCodeOf, run } from "pawl";

const [goal = "Make the tests pass.", check = "npm test"] = process.argv.slice(2);

const handle = await run({ goal, checks: [check], maxIterations: 10, maxCost: 5 });
console.log(`run ${handle.id}`);

for await (const fact of handle.events) {
  if (fact.type === "check-end") console.log(`  ${fact.check}: ${fact.verdict.is}`);
  if (fact.type === "decision-made") console.log(`iteration ${fact.iteration}: ${fact.reason}`);
}

const { outcome, branch } = await handle.outcome;
console.log(`${outcome.is} on ${branch ?? "no branch"}: ${outcome.reason}`);
process.exitCode = exitCodeOf(outcome, { trustPromise: false });
