/** `kill -9` at random moments of real runs; 50 here, 500 in `npm run campaign`. */
import { expect, it } from "vitest";
import { killedRun, plans, undisturbed } from "../support/kill-run.ts";

const KILLS = 50;
const KILLS_PER_RUN = 5;
const SEED = 20_261_115;

it("ends as the undisturbed run does after 50 kills at random moments, half of them of the driver alone (F1, row 15)", async () => {
  const calm = await undisturbed();
  expect(calm.ending).toMatchObject({ outcome: "verified all-required-pass", iterations: 3, requests: 7 });
  let kills = 0;
  let driverOnly = 0;
  for (const plan of plans(SEED, KILLS, KILLS_PER_RUN)) {
    const report = await killedRun(plan, calm);
    expect({ plan, wrongs: report.wrongs }).toEqual({ plan, wrongs: [] });
    expect(report.extraRequests).toBeLessThanOrEqual(report.kills);
    kills += report.kills;
    driverOnly += report.driverOnly;
    if (kills >= KILLS) break;
  }
  expect(kills).toBeGreaterThanOrEqual(KILLS);
  expect(driverOnly).toBeGreaterThan(KILLS / 4);
}, 400_000);

it("costs one request when it is killed in the moment the model gets the result of a tool (F1)", async () => {
  const calm = await undisturbed();
  // These carry results; without the gate the third of them cost two.
  for (const request of [2, 4, 6]) {
    const { kills, extraRequests, wrongs } = await killedRun(
      { moments: [{ at: { request }, driverOnly: false }] },
      calm,
    );
    expect({ request, kills, wrongs }).toEqual({ request, kills: 1, wrongs: [] });
    expect(extraRequests).toBeLessThanOrEqual(1);
  }
}, 120_000);
