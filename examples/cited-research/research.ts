/** Research whose every claim is bound to a source: what no text of the corpus says is not in the report. */
import { exitCodeOf, run } from "pawl";

const [question = "Who kept the light on Skerry Point, and what did the lamp burn?"] = process.argv.slice(2);

const handle = await run({
  goal: `Answer this question in report.md, from the texts in corpus/ and from nothing else: ${question}

Each line of the report is a heading or one claim with its source: - CLAIM [FILE: "WORDS"], where WORDS stand in corpus/FILE, letter by letter.

## Acceptance criteria

- Every claim has a source that says it (check: citations)
- The sources are as they were (check: sources)
`,
  checks: [
    { name: "citations", run: "node citations.mjs" },
    { name: "sources", guard: "forbidden-paths", forbid: ["corpus", "citations.mjs"] },
  ],
  maxIterations: 6,
  maxCost: 2,
});
console.log(`run ${handle.id}`);

for await (const fact of handle.events) {
  if (fact.type !== "check-end") continue;
  console.log(`draft ${fact.iteration}, ${fact.check}: ${fact.verdict.is}`);
  if (fact.verdict.is === "fail") console.log(fact.verdict.excerpt.replaceAll(/^/gm, "  "));
}

const { outcome, branch } = await handle.outcome;
console.log(`${outcome.is} on ${branch ?? "no branch"}: ${outcome.reason}`);
process.exitCode = exitCodeOf(outcome, { trustPromise: false });
