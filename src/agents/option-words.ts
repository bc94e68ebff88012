/** Options of agents as flags and pawl.yaml give them. */
import { UsageError } from "../errors.ts";
import type { AgentSpec } from "../spec.ts";

export type OptionValue = AgentSpec["options"][string];

/** A list, or words joined by commas. Throws UsageError. */
export function words(name: string, value: OptionValue | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value === "string") return value.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
  if (Array.isArray(value) && value.every((word) => typeof word === "string")) return value;
  throw new UsageError(`agent option ${name} must be a list of words`);
}
