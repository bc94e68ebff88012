/** Refuses a report whose claims are not in its sources: every claim ends with a file of corpus/ and words that stand there. */
import { readdirSync, readFileSync } from "node:fs";

const REPORT = "report.md";
const CORPUS = "corpus";
/** Fewer prove nothing: they stand in any text. */
const MIN_QUOTED_WORDS = 4;
const CLAIM = /^- (?<claim>.+?) \[(?<source>[\w.-]+): "(?<quote>[^"]+)"\]$/;

const oneSpaced = (text) => text.replaceAll(/\s+/g, " ").trim();
const sources = new Map(
  readdirSync(CORPUS).map((name) => [name, oneSpaced(readFileSync(`${CORPUS}/${name}`, "utf8"))]),
);

/** What is wrong with a line, or undefined. */
function problem(line) {
  const { source, quote } = CLAIM.exec(line)?.groups ?? {};
  if (source === undefined) return 'no source: a claim is written as - CLAIM [FILE: "WORDS"]';
  const text = sources.get(source);
  if (text === undefined) return `there is no source ${source}`;
  if (oneSpaced(quote).split(" ").length < MIN_QUOTED_WORDS) return `fewer than ${MIN_QUOTED_WORDS} words are quoted`;
  return text.includes(oneSpaced(quote)) ? undefined : `${source} does not say "${quote}"`;
}

const lines = readFileSync(REPORT, "utf8").split("\n");
const claims = lines.flatMap((line, at) => (line.trim() === "" || line.startsWith("#") ? [] : [[at + 1, line.trim()]]));
const problems = claims.flatMap(([n, line]) => {
  const says = problem(line);
  return says === undefined ? [] : [`${REPORT}:${n}:1: error: ${says}`];
});
if (claims.length === 0) problems.push(`${REPORT}:1:1: error: it claims nothing`);
for (const line of problems) console.log(line);
console.log(`${claims.length} claims, ${problems.length} without a source`);
process.exitCode = problems.length === 0 ? 0 : 1;
