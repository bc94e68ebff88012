/** Tells of tries to get out without letting whoever tries fill the disk with them. */
import type { Attempt } from "./egress.ts";

/** Of one kind, told one by one; from then on every time that the count has doubled. */
const TOLD_SINGLY = 20;
/** Kinds that are told apart; whoever tries more addresses than this is counted as one. */
const MAX_KINDS = 500;
const OTHERS = "";

export function tellSparely(tell: (attempt: Attempt) => void): (attempt: Attempt) => void {
  const counts = new Map<string, number>();
  return (attempt) => {
    const exact = `${attempt.host} ${attempt.port} ${attempt.allowed}`;
    const kind = counts.has(exact) || counts.size < MAX_KINDS ? exact : OTHERS;
    const times = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, times);
    const isPower = Number.isInteger(Math.log2(times));
    if (times <= TOLD_SINGLY) tell(attempt);
    else if (isPower) tell({ ...attempt, why: `${attempt.why}; ${times} such tries so far` });
  };
}
