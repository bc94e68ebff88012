/** The whole set. */
import { CSV } from "./csv.ts";
import { DATES } from "./dates.ts";
import { GRAPHS } from "./graphs.ts";
import { OPTIMISATION } from "./optimisation.ts";
import { PARSING } from "./parsing.ts";
import { PLOTS } from "./plots.ts";
import type { Problem } from "./problem.ts";
import { SIMULATION } from "./simulation.ts";
import { TEXTS } from "./texts.ts";

export const PROBLEMS: readonly Problem[] = [
  ...CSV,
  ...PARSING,
  ...OPTIMISATION,
  ...PLOTS,
  ...DATES,
  ...GRAPHS,
  ...SIMULATION,
  ...TEXTS,
];
