/** What no journal may say, whatever happened: the order of facts, receipts, and what a pause or a stop forbids. */
import type { Fact } from "../../src/events.ts";

interface Reader {
  complaints: string[];
  ended: boolean;
  paused: boolean;
  stopped: boolean;
  open: number | undefined;
  /** The open turn began although a person had said no. */
  forbidden: boolean;
  iteration: number;
  decided: boolean;
  /** A turn of this iteration did its work, or a person or a limit ended it. */
  worked: boolean;
  received: Set<string>;
  delivered: Set<string>;
  acknowledged: Set<string>;
  /** Questions that wait, with the turn that does. */
  questions: Map<string, number | null>;
  asked: Set<string>;
  hooks: Set<string>;
}

/** In words, one per broken rule; a sound journal has none. */
export function complaintsAbout(facts: readonly Fact[]): string[] {
  const reader: Reader = {
    complaints: [],
    ended: false,
    paused: false,
    stopped: false,
    open: undefined,
    forbidden: false,
    iteration: 0,
    decided: true,
    worked: false,
    received: new Set(),
    delivered: new Set(),
    acknowledged: new Set(),
    questions: new Map(),
    asked: new Set(),
    hooks: new Set(),
  };
  for (const fact of facts) read(reader, fact);
  return reader.complaints;
}

/** What people said while the run ended is still written down, with its receipt. */
const AFTER_THE_END: ReadonlySet<string> = new Set([
  "run-reopened",
  "lease-changed",
  "directive-received",
  "directive-delivered",
]);

function read(r: Reader, fact: Fact): void {
  const must = (holds: boolean, rule: string): void => {
    if (!holds) r.complaints.push(`${fact.seq} ${fact.type}: ${rule}`);
  };
  must(!r.ended || AFTER_THE_END.has(fact.type), "after the run's end");
  switch (fact.type) {
    case "run-end":
      must(r.open === undefined, "a turn is open");
      must(r.decided, "the iteration is not decided");
      must(r.questions.size === 0, "a question is open");
      r.ended = true;
      return;
    case "run-reopened":
      must(r.ended, "it had not ended");
      Object.assign(r, { ended: false, paused: false, stopped: false });
      return;
    case "iteration-start":
      must(r.decided && fact.n === r.iteration + 1, `after iteration ${r.iteration}`);
      Object.assign(r, { iteration: fact.n, decided: false, worked: false });
      return;
    case "turn-start":
      must(r.open === undefined, "another turn is open");
      must(![...r.questions.values()].includes(null), "a person is asked how to go on");
      must(fact.iteration === r.iteration && !r.decided, "outside of its iteration");
      r.open = fact.turn;
      r.forbidden = r.paused || r.stopped;
      return;
    case "turn-end": {
      must(r.open === fact.turn, "it was not open");
      must(!r.forbidden || fact.usage.requests === 0, "bought while paused or stopped");
      r.open = undefined;
      const { outcome } = fact;
      r.worked ||= outcome.is === "done" || (outcome.is === "interrupted" && /^(directive|budget):/.test(outcome.by));
      return;
    }
    case "decision-made":
      must(r.open === undefined && !r.decided && fact.iteration === r.iteration, "out of place");
      must(fact.next === "end" || r.worked, "an iteration is consumed in which nothing was done");
      r.decided = true;
      return;
    case "directive-received":
      r.received.add(fact.id);
      if (fact.directive.kind === "pause") r.paused = true;
      if (fact.directive.kind === "resume") Object.assign(r, { paused: false, stopped: false });
      if (fact.directive.kind === "stop") r.stopped = true;
      return;
    case "directive-delivered":
      must(r.received.has(fact.id) && !r.delivered.has(fact.id), "delivered twice, or never given");
      r.delivered.add(fact.id);
      return;
    case "directive-acknowledged":
      must(r.delivered.has(fact.id) && !r.acknowledged.has(fact.id), "acknowledged twice, or never delivered");
      r.acknowledged.add(fact.id);
      return;
    case "human-requested":
      must(!r.asked.has(fact.question), "asked twice under one name");
      must(fact.turn === null ? r.open === undefined : fact.turn === r.open, "out of place");
      r.asked.add(fact.question);
      r.questions.set(fact.question, fact.turn);
      return;
    case "human-answered":
      must(r.questions.delete(fact.question), "answered twice, or never asked");
      return;
    case "hook-end": {
      const key = `${fact.hook} ${fact.on} ${fact.occasion}`;
      must(!r.hooks.has(key), "a finished hook was repeated");
      r.hooks.add(key);
      return;
    }
    default:
  }
}
