/**
 * `npm run campaign [kills] [seed]`: the long form of what the test suite does briefly. Kills real runs at random moments
 * (500 by default) and writes what came of it to bench/campaign.json. Exit 1 if anything was lost, bought twice or left.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { killedRun, plans, undisturbed } from "../test/support/kill-run.ts";

const KILLS_PER_RUN = 5;
const target = Number(process.argv[2] ?? 500);
const seed = Number(process.argv[3] ?? 1);

const calm = await undisturbed();
console.error(`undisturbed: ${calm.ending.outcome}, ${calm.ending.requests} model requests, ${Math.round(calm.ms)} ms`);
let kills = 0;
let driverOnly = 0;
let runs = 0;
let extraRequests = 0;
const wrongs: { plan: number; wrongs: string[] }[] = [];
for (const [i, plan] of plans(seed, target, KILLS_PER_RUN).entries()) {
  if (kills >= target) break;
  const report = await killedRun(plan, calm);
  runs += 1;
  kills += report.kills;
  driverOnly += report.driverOnly;
  extraRequests += report.ending.requests - calm.ending.requests;
  if (report.wrongs.length > 0) wrongs.push({ plan: i, wrongs: report.wrongs });
  console.error(
    `${kills}/${target} kills in ${runs} runs, ${extraRequests} extra requests, ${wrongs.length} runs with something wrong`,
  );
}
const result = {
  command: `npm run campaign -- ${target} ${seed}`,
  runs,
  kills,
  driverOnly,
  requestsUndisturbed: calm.ending.requests,
  extraRequestsPerKill: kills === 0 ? 0 : extraRequests / kills,
  wrongs,
};
writeFileSync(join(import.meta.dirname, "campaign.json"), `${JSON.stringify(result, null, 2)}\n`);
console.log(JSON.stringify(result, null, 2));
process.exitCode = wrongs.length > 0 || kills < target ? 1 : 0;
