/** The state that a file of facts folds to, as text with sorted keys: what must stay the same in every later version. */
import type { Fact } from "../../src/events.ts";
import { fold } from "../../src/loop/fold.ts";

export function stateOf(lines: string): string {
  const facts = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Fact);
  return `${JSON.stringify(plain(fold(facts)), undefined, 2)}\n`;
}

function plain(value: unknown): unknown {
  if (value instanceof Map) return { map: [...value].map(([key, one]) => [key, plain(one)]) };
  if (value instanceof Set) return { set: [...value].map(plain) };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, plain(one)]));
}
