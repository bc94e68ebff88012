/** A check that is an object of the user's program: held to the contract of the port, whatever it does. */
import { z } from "zod";
import { verdictSchema, type Evidence, type Verdict } from "../../events.ts";
import type { Check, VerifyTree } from "../../ports.ts";

/** Of what a check says: more would only make the journal slow, the prompt is cut anyway. */
const MAX_MESSAGE_CHARS = 4_000;
const MAX_FINGERPRINT_CHARS = 400;

/** In short: a verdict without the evidence, which pawl adds. */
export type Judged = { pass: true; score?: number } | { pass: false; message: string; score?: number };

const score = z.number().optional();
const judgedSchema = z.union([
  z.strictObject({ pass: z.literal(true), score }),
  z.strictObject({ pass: z.literal(false), message: z.string().min(1), score }),
]);

export interface OwnCheck {
  name: string;
  /** Words for people and prompts: what it looks at. The name otherwise. */
  about?: string;
  /** Not required ones are told and never decide. True unless said. */
  required?: boolean;
  /** How long it may take, as in settings (`"30s"`); then it could not judge. */
  timeout?: string | number;
  /** Judges the files below `tree.path`: exactly the tree that would be delivered. */
  judge(tree: VerifyTree, signal: AbortSignal): Verdict | Judged | Promise<Verdict | Judged>;
}

export const isOwnCheck = (given: unknown): given is OwnCheck =>
  typeof given === "object" && given !== null && "judge" in given && typeof given.judge === "function";

/** `timeoutMs` and `required` as frozen in the spec. */
export function portOf(own: OwnCheck, spec: { required: boolean; timeoutMs: number }): Check {
  return {
    name: own.name,
    required: spec.required,
    cost: "slow",
    judge: async (tree, signal) => {
      const started = performance.now();
      const timeout = AbortSignal.timeout(spec.timeoutMs);
      const both = AbortSignal.any([signal, timeout]);
      const over = new Promise<Verdict>((resolve) => {
        const end = (): void => resolve(unverifiable(late(timeout, spec.timeoutMs)));
        if (both.aborted) end();
        both.addEventListener("abort", end, { once: true });
      });
      const judged = Promise.resolve()
        .then(() => own.judge(tree, both))
        .then((answer) => verdictOf(answer, { own, tree, durationMs: Math.ceil(performance.now() - started) }))
        .catch((error: unknown) => unverifiable(`it threw: ${wordsOf(error)}`));
      return await Promise.race([judged, over]);
    },
  };
}

const late = (timeout: AbortSignal, timeoutMs: number): string =>
  timeout.aborted ? `no answer within ${timeoutMs} ms` : "aborted";

const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_FINGERPRINT_CHARS);

const unverifiable = (reason: string): Verdict => ({ is: "unverifiable", reason });

interface About {
  own: OwnCheck;
  tree: VerifyTree;
  durationMs: number;
}

/** A program without types may answer anything: what is no verdict is none, and never taken for one. */
function verdictOf(answer: Verdict | Judged, { own, tree, durationMs }: About): Verdict {
  const whole = verdictSchema.safeParse(answer);
  if (whole.success) return ofThisTree(whole.data, tree);
  if (!judgedSchema.safeParse(answer).success || "is" in answer) return unverifiable("its answer is no verdict");
  const evidence: Evidence = {
    tree: tree.tree,
    command: own.about ?? own.name,
    exitCode: null,
    signal: null,
    durationMs,
    log: null,
    logBytes: 0,
    isolation: tree.isolation,
    suspicions: [],
  };
  const scored = answer.score === undefined ? {} : { score: answer.score };
  if (answer.pass) return { is: "pass", evidence, ...scored };
  const message = answer.message.slice(0, MAX_MESSAGE_CHARS);
  const failures = [{ fingerprint: message.slice(0, MAX_FINGERPRINT_CHARS), message }] as const;
  return { is: "fail", evidence, failures: [...failures], excerpt: message, ...scored };
}

/** A verdict that was kept from an earlier tree proves nothing about this one. */
function ofThisTree(verdict: Verdict, { tree }: VerifyTree): Verdict {
  if (!("evidence" in verdict) || verdict.evidence.tree === tree) return verdict;
  return unverifiable("its evidence is of another tree");
}
