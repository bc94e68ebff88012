/** The types of fact that the fold knows, and a driver may go on over. Tied to events.ts by its type, to be there without the schemas. */
import type { FactType } from "../events.ts";

const KNOWN: Readonly<Record<FactType, true>> = {
  "run-start": true,
  "run-reopened": true,
  "run-end": true,
  "lease-changed": true,
  "lane-start": true,
  "lane-end": true,
  "iteration-start": true,
  "turn-start": true,
  "session-opened": true,
  "turn-end": true,
  "agent-benched": true,
  "change-recorded": true,
  "baseline-recorded": true,
  "check-start": true,
  "check-end": true,
  "failure-recorded": true,
  "decision-made": true,
  "effect-intended": true,
  "change-accepted": true,
  "change-restored": true,
  "directive-received": true,
  "directive-delivered": true,
  "directive-acknowledged": true,
  "human-requested": true,
  "human-answered": true,
  "tasks-recorded": true,
  "hook-end": true,
  "wait-start": true,
  "wait-end": true,
};

export const KNOWN_TYPES: ReadonlySet<string> = new Set(Object.keys(KNOWN));
