/** `kill -9` at random moments of real runs, half of them of the driver alone. */
import { killedRun, plans, undisturbed } from "../../test/support/kill-run.ts";
import type { Part } from "./part.ts";

const KILLS_PER_RUN = 5;

export const kills: Part = {
  name: "kills",
  about: "kill -9 of the whole tree, or the driver alone, at random moments of real runs",
  shows: "F1, row 15",
  counts: { kills: 500, seed: 1 },
  async run({ kills: target = 0, seed = 1 }) {
    const calm = await undisturbed();
    const { requests } = calm.ending;
    console.error(`undisturbed: ${calm.ending.outcome}, ${requests} model requests, ${Math.round(calm.ms)} ms`);
    let made = 0;
    let driverOnly = 0;
    let runs = 0;
    let extraRequests = 0;
    const wrongs: { plan: number; wrongs: string[] }[] = [];
    for (const [i, plan] of plans(seed, target, KILLS_PER_RUN).entries()) {
      if (made >= target) break;
      const report = await killedRun(plan, calm);
      runs += 1;
      made += report.kills;
      driverOnly += report.driverOnly;
      extraRequests += report.extraRequests;
      const tooMany =
        report.extraRequests > report.kills
          ? [`${report.extraRequests} extra requests after ${report.kills} kills`]
          : [];
      const all = [...report.wrongs, ...tooMany];
      if (all.length > 0) {
        wrongs.push({ plan: i, wrongs: all });
        console.error(`plan ${i} of seed ${seed}: ${all.join("; ")}`);
      }
      console.error(`${made}/${target} kills, ${runs} runs, ${extraRequests} extra requests, ${wrongs.length} wrong`);
    }
    if (made < target) wrongs.push({ plan: -1, wrongs: [`only ${made} kills`] });
    const extraRequestsPerKill = made === 0 ? 0 : extraRequests / made;
    return { runs, kills: made, driverOnly, requestsUndisturbed: requests, extraRequestsPerKill, wrongs };
  },
};
