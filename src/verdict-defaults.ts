/** How a run judges where its specification says nothing: also runs of before there was a choice. */
import type { ProtectSpec, VerdictSpec } from "./spec.ts";

export const NOTHING_PROTECTED: ProtectSpec = { tests: [], config: [], keys: {}, except: [], testChanges: "undo" };

export const PLAIN_VERDICTS: VerdictSpec = {
  combine: "veto",
  threshold: 0.7,
  preExisting: "require",
  reruns: 0,
  passesWhenFlaky: 1,
  control: "off",
  quarantine: [],
};
