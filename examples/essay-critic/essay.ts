/** A writer and a critic: nobody but the critic, and what can be counted, says when the essay is done. */
import { exitCodeOf, run } from "pawl";

const [topic = "why cats sleep so much"] = process.argv.slice(2);

const RUBRIC = `A reader who knows nothing of the subject
- learns one thing, said in the first two sentences;
- gets an example for it that can be seen or heard, not an abstraction;
- is told nothing that the writer could not know.`;

const handle = await run({
  goal: `Write an essay about ${topic} into essay.md.

## Acceptance criteria

- It has 60 to 120 words, and no phrase that is only there to fill them (check: form)
- A critic who knows only the essay finds it clear, concrete and honest (check: critic)
`,
  checks: [
    {
      name: "form",
      requires: {
        file: "essay.md",
        words: { min: 60, max: 120 },
        without: ["as an AI", "in conclusion", "it is important to note", "delve"],
      },
    },
    { name: "critic", judge: RUBRIC, pass: 0.7, files: ["essay.md"] },
  ],
  maxIterations: 6,
  maxCost: 2,
});
console.log(`run ${handle.id}`);

for await (const fact of handle.events) {
  if (fact.type !== "check-end") continue;
  const { verdict } = fact;
  const score = "score" in verdict && verdict.score !== undefined ? `, score ${verdict.score}` : "";
  console.log(`draft ${fact.iteration}, ${fact.check}: ${verdict.is}${score}`);
  if (verdict.is === "fail") for (const { message } of verdict.failures) console.log(`  ${message}`);
}

const { outcome, branch } = await handle.outcome;
console.log(`${outcome.is} on ${branch ?? "no branch"}: ${outcome.reason}`);
process.exitCode = exitCodeOf(outcome, { trustPromise: false });
