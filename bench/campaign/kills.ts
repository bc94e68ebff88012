/** `kill -9` at random moments of real runs, half of them of the driver alone. */
import { killMany } from "../../test/support/kill-many.ts";
import { undisturbed } from "../../test/support/kill-run.ts";
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
    const { extraRequests, wrongs, ...made } = await killMany(
      { seed, kills: target, killsEach: KILLS_PER_RUN },
      calm,
      (totals) => {
        const { kills: n, runs, extraRequests: extra } = totals;
        console.error(`${n}/${target} kills, ${runs} runs, ${extra} extra requests, ${totals.wrongs.length} wrong`);
      },
    );
    if (made.kills < target) wrongs.push({ plan: -1, wrongs: [`only ${made.kills} kills`] });
    const extraRequestsPerKill = made.kills === 0 ? 0 : extraRequests / made.kills;
    return { ...made, requestsUndisturbed: requests, extraRequestsPerKill, wrongs };
  },
};
