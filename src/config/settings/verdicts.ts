/** What verdicts come to: several checks together, old failures, flaky tests, the control at the end. */
import { z } from "zod";
import { count, countOrNone } from "../units.ts";
import { choice, of, text, yes, type Setting } from "./kinds.ts";

const share = z
  .union([z.number(), z.string()], "must be a number from 0 to 1")
  .transform((given) => (given === "" ? Number.NaN : Number(given)))
  .refine((given) => given >= 0 && given <= 1, "must be a number from 0 to 1");

export const VERDICT_SETTINGS = {
  "require-all": of({
    schema: yes,
    group: "goal",
    about: "failures that were there before the run have to go, too",
  }),
  "leave-failing": of({
    schema: yes,
    group: "goal",
    about: "failures that were there before the run do not count",
  }),
  reruns: of({
    schema: countOrNone,
    argument: "N",
    group: "goal",
    about: "how often what has passed before is run again when it fails",
  }),
  passes: of({
    schema: count,
    argument: "N",
    group: "goal",
    about: "passes in a row before a run ends verified, and once a check was flaky",
  }),
  control: of({
    schema: choice(["auto", "off"]),
    argument: "WHEN",
    group: "goal",
    about: "before the end, plant a failing test that the check has to see: auto, off",
  }),
  "require-control": of({
    schema: yes,
    group: "goal",
    about: "a person has to look where no failure could be planted for a check",
  }),
  combine: of({
    schema: choice(["veto", "all", "weighted", "quorum"]),
    argument: "HOW",
    group: "goal",
    about: "what several checks come to: veto, all, weighted, quorum",
  }),
  threshold: of({
    schema: share,
    argument: "SHARE",
    group: "goal",
    about: "of the weights that must pass, with --combine weighted",
  }),
  quarantine: of({
    schema: z.array(
      z.strictObject({ test: text, until: z.iso.date("must be a date such as 2026-12-31") }),
      "must be a list of `test` and `until`",
    ),
    flag: null,
    group: "goal",
    about: "tests whose failures do not count until the day is over",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
