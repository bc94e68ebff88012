/** `kill -9` at random moments of real runs; 50 here, 500 in `npm run campaign`. */
import { beforeAll, expect, it } from "vitest";
import { killMany } from "../support/kill-many.ts";
import { killedRun, undisturbed } from "../support/kill-run.ts";

const KILLS = 50;
/** So many that few runs need a driver more, which nobody kills. */
const KILLS_PER_RUN = 9;
const SEED = 20_261_115;
const CALM_LIMIT_MS = 240_000;

let calm: Awaited<ReturnType<typeof undisturbed>>;
beforeAll(async () => {
  calm = await undisturbed();
}, CALM_LIMIT_MS);

it("ends as the undisturbed run does after 50 kills at random moments, half of them of the driver alone (F1, row 15)", async () => {
  expect(calm.ending).toMatchObject({ outcome: "verified all-required-pass", iterations: 3, requests: 7 });
  const plan = { seed: SEED, kills: KILLS, killsEach: KILLS_PER_RUN };
  const { wrongs, kills, driverOnly, stages } = await killMany(plan, calm);
  expect(wrongs).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
  expect(driverOnly).toBeGreaterThan(KILLS / 4);
  const met = Object.keys(stages);
  for (const iteration of [1, 2, 3]) expect(met.filter((stage) => stage.startsWith(`${iteration} `))).not.toEqual([]);
  // While the model answers, and while what it did is judged and kept.
  expect(met.filter((stage) => /turn-start|session-opened/.test(stage))).not.toEqual([]);
  expect(met.filter((stage) => /turn-end|change-recorded|check-|decision-made|effect-/.test(stage))).not.toEqual([]);
}, 900_000);

it("costs one request when it is killed in the moment the model gets the result of a tool (F1)", async () => {
  // These carry results; without the gate the third of them cost two.
  const killedAt = async (request: number): Promise<unknown> => {
    const moments = [{ at: { request }, driverOnly: false }];
    const { kills, extraRequests, wrongs } = await killedRun({ moments }, calm);
    return { request, kills, wrongs, paidTwice: extraRequests > 1 };
  };
  expect(await Promise.all([2, 4, 6].map(killedAt))).toEqual(
    [2, 4, 6].map((request) => ({ request, kills: 1, wrongs: [], paidTwice: false })),
  );
}, 300_000);
