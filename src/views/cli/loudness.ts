/** How much a person wants to see of a live run. */
import { UsageError } from "../../errors.ts";
import type { Loudness } from "../terminal.ts";

export function loudnessOf({ quiet, verbose }: { quiet?: true; verbose?: true }): Loudness {
  if (quiet === true && verbose === true)
    throw new UsageError("--quiet contradicts --verbose", { hint: "give one of them" });
  if (quiet === true) return "quiet";
  return verbose === true ? "verbose" : "normal";
}
