/** Drives a run and redirects it between iterations: by a policy, and by what a person types meanwhile. */
import { createInterface } from "node:readline";
import { exitCodeOf, run, type RunHandle } from "pawl";
import { readCommands } from "./commands.ts";
import { stepIn } from "./policy.ts";

const [goal = "Make the tests pass.", check = "npm test"] = process.argv.slice(2);
const policy = {
  hint: process.env["ORCHESTRATOR_HINT"] ?? "Nothing has changed for a while. Take a completely different approach.",
  strongerModel: process.env["ORCHESTRATOR_MODEL"] ?? "opus",
};

const input = createInterface({ input: process.stdin });
const commands = readCommands(input, { handle: () => handle });

const handle: RunHandle = await run({
  goal,
  checks: [check],
  maxIterations: 20,
  maxCost: 10,
  // pawl has a ladder of its own for struggle; here the policy is all there is.
  ladder: ["stop"],
  patience: 10,
  async onIteration(state) {
    const { iteration, record, unchanged, decision } = state;
    console.log(`iteration ${iteration}: ${record.files} files changed, unchanged for ${unchanged}, ${decision.rule}`);
    // What a person says comes before what the policy would do.
    const answer = { ...stepIn(state, policy), ...commands.take() };
    for (const [what, value] of Object.entries(answer)) console.log(`  ${what}: ${JSON.stringify(value)}`);
    return answer;
  },
});
console.log(`run ${handle.id}`);

const { outcome, branch } = await handle.outcome;
input.close();
console.log(`${outcome.is} on ${branch ?? "no branch"}: ${outcome.reason}`);
process.exitCode = exitCodeOf(outcome, { trustPromise: false });
