/** Many killed runs, by plans of a seed: kills all over the runs, and where they fell. */
import { mulberry } from "./mulberry.ts";
import { killedRun, type Calm, type KillPlan, type Stage } from "./kill-run.ts";

export interface KillTotals {
  runs: number;
  kills: number;
  driverOnly: number;
  /** How often each was met. */
  stages: Partial<Record<Stage, number>>;
  /** Kills beyond these, behind no new fact. */
  idle: number;
  extraRequests: number;
  /** By the plan's number. */
  wrongs: { plan: number; wrongs: string[] }[];
}

/** Runs that mostly wait for each other's moment: a few at once keep the machine busy and disturb each other, as in life. */
const RUNS_AT_ONCE = 3;

/** Runs of a seed's plans until `kills` were made. `tell` after each. */
export async function killMany(
  { seed, kills, killsEach }: { seed: number; kills: number; killsEach: number },
  calm: Calm,
  tell: (totals: KillTotals) => void = () => undefined,
): Promise<KillTotals> {
  const totals: KillTotals = { runs: 0, kills: 0, driverOnly: 0, stages: {}, idle: 0, extraRequests: 0, wrongs: [] };
  const left = plans(seed, kills, killsEach).entries();
  /** Made, or to be made by a run that goes on. */
  let counted = 0;
  const work = async (): Promise<void> => {
    while (counted < kills) {
      const { value: next, done } = left.next();
      if (done === true) return;
      const [number, plan] = next;
      const moments = plan.moments.slice(0, kills - counted);
      counted += moments.length;
      const report = await killedRun({ moments }, calm);
      counted -= moments.length - report.kills;
      totals.runs += 1;
      totals.kills += report.kills;
      totals.driverOnly += report.driverOnly;
      totals.extraRequests += report.extraRequests;
      totals.idle += report.idle;
      for (const stage of report.stages) totals.stages[stage] = (totals.stages[stage] ?? 0) + 1;
      const { extraRequests } = report;
      const made = report.kills + report.idle;
      const tooMany = extraRequests > made ? [`${extraRequests} extra requests after ${made} kills`] : [];
      const wrongs = [...report.wrongs, ...tooMany];
      if (wrongs.length > 0) totals.wrongs.push({ plan: number, wrongs });
      tell(totals);
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work));
  return totals;
}

/** Of an undisturbed run's time: most of its facts follow each other sooner. */
const LATER = 0.05;

/** Seeded, so that a plan that found something can be run again. */
function plans(seed: number, count: number, killsEach: number): KillPlan[] {
  const random = mulberry(seed);
  return Array.from({ length: count }, () => {
    // All over the run, in order; then any moment until the next fact or so.
    const shares = Array.from({ length: killsEach }, random).toSorted((a, b) => a - b);
    return {
      moments: shares.map((share, n) => ({
        at: { facts: share - (shares[n - 1] ?? 0), thenTime: random() * LATER },
        driverOnly: random() < 0.5,
      })),
    };
  });
}
