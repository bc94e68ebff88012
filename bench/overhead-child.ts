/** One run of N iterations with an agent that answers at once, in a process of its own; prints the gaps as JSON. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { driveHere, makePlace } from "./support.ts";

const iterations = Number(process.argv[2]);
const place = makePlace();
const starts: number[] = [];
const ends: number[] = [];
await driveHere(place, iterations, ({ n, workspace }) => {
  starts.push(performance.now());
  writeFileSync(join(workspace, `work-${n % 50}.txt`), `iteration ${n}\n`);
  ends.push(performance.now());
  return { text: "not yet" };
});
const gaps = starts.slice(1).map((start, i) => start - (ends[i] ?? start));
place.remove();
console.log(JSON.stringify({ gaps }));
