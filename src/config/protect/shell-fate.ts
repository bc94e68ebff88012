/** Whether a failure of a command in a shell text is one of the whole. Pure. */
import type { Step } from "./shell-words.ts";

export type Fate = "always" | "perhaps" | "never";

const OPENS = /^(if|while|until|for|case|\{)$/;
const CLOSES = /^(fi|done|esac|\})$/;
const CONDITIONAL = /^(if|then|else|elif|while|until|do|for|case|!|\{|function)$/;
const ERREXIT = /^\s*set\s+(-\w*e|-o\s+errexit)/m;
/** What stands after it is run whatever came of it. */
const IN_ANY_CASE = new Set([";", ";;", "\n"]);
/** Where what came of a command is looked at later, or a text for another program may look like commands. */
const BY_HAND = /\$\?|\$\{?PIPESTATUS|\btrap\b/;
const TEXT_WITHIN = "<<";

/** Of each step. */
export function fatesOf(steps: readonly Step[], text: string): Fate[] {
  if (text.includes(TEXT_WITHIN)) return steps.map(() => "perhaps");
  const atBoundary: Fate = ERREXIT.test(text) ? "always" : BY_HAND.test(text) ? "perhaps" : "never";
  const apart = setApart(steps);
  const fates: Fate[] = [];
  /** Of what stands here, seen from the end. */
  let fate: Fate = "always";
  let isLast = true;
  for (const [nth, step] of [...steps.entries()].toReversed()) {
    fates[nth] = "perhaps";
    if (step.is === "open") continue;
    const { operator } = step;
    if (!isLast && IN_ANY_CASE.has(operator)) fate = atBoundary;
    else if (operator === "||" || operator === "&") fate = "perhaps";
    if (step.is === "close") continue;
    isLast = false;
    // Of a pipe the last one counts; what follows `||` is run only after a failure.
    const isCertain = !apart.has(nth) && !["|", "`"].includes(operator) && before(steps, nth) !== "||";
    if (isCertain) fates[nth] = fate;
  }
  return fates;
}

const before = (steps: readonly Step[], nth: number): string => {
  const step = steps.slice(0, nth).findLast(({ is }) => is !== "open");
  return step === undefined || step.is === "open" ? "" : step.operator;
};

/** In a condition, a loop, a function, or a text that becomes a word. */
function setApart(steps: readonly Step[]): ReadonlySet<number> {
  const apart = new Set<number>();
  const brackets: boolean[] = [];
  let depth = 0;
  for (const [nth, step] of steps.entries()) {
    if (step.is === "open") brackets.push(step.inner);
    else if (step.is === "close") brackets.pop();
    else {
      const first = step.words[0] ?? "";
      if (OPENS.test(first)) depth += 1;
      if (depth > 0 || brackets.includes(true) || CONDITIONAL.test(first)) apart.add(nth);
      if (CLOSES.test(first) || step.words.at(-1) === "}") depth = Math.max(0, depth - 1);
    }
  }
  return apart;
}
