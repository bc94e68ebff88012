/**
 * Lines that say it still works while nothing else is shown: first after ten seconds, then ever more rarely, so that a
 * person sees life at once, a supervisor never ends a silent job, and a night of waiting is not pages of it.
 */
import type { Fact } from "../events.ts";
import type { RunState } from "../loop/state.ts";
import { duration } from "./cli/format.ts";
import { oneLine } from "./plain.ts";
import { awaitedBaseline, isAtRest, openParts, pauseWords, provingWords } from "./proof-words.ts";

const FIRST_MS = 10_000;
/** Supervisors end what is silent for minutes. */
const MAX_IN_LOG_MS = 60_000;
const MAX_ON_TERMINAL_MS = 600_000;
const LOOK_MS = 1_000;
const MAX_REASON_CHARS = 300;

interface HeartbeatOptions {
  say: (words: string) => void;
  now: () => number;
  /** Someone looks at it while it happens. */
  live: boolean;
  /** Only so much that a supervisor is content. */
  quiet: boolean;
}

export interface Heartbeat {
  fact(fact: Fact, state: RunState): void;
  /** It happened before anybody looked. */
  past(fact: Fact, state: RunState): void;
  /** Something came from the agent, shown or not. */
  life(): void;
  /** A line was shown. */
  heard(): void;
  close(): void;
}

export function heartbeat({ say, now, live, quiet }: HeartbeatOptions): Heartbeat {
  const max = live ? MAX_ON_TERMINAL_MS : MAX_IN_LOG_MS;
  const first = quiet ? max : FIRST_MS;
  let pause = first;
  let shownAt = now();
  let lifeAt = now();
  let doing: Doing = { words: "starting", isTurn: false };
  let since = now();
  const beat = (): void => {
    const at = now();
    if (at - shownAt < pause) return;
    const next = Math.min(2 * pause, max);
    const life = doing.isTurn ? `; last sign of the agent ${duration(at - Math.max(lifeAt, since))} ago` : "";
    say(`  still ${doing.words}, ${duration(at - since)}${life}`);
    pause = next;
  };
  const timer = quiet && live ? undefined : setInterval(beat, LOOK_MS);
  timer?.unref();
  const take = (fact: Fact, { state, at }: { state: RunState; at: number }): void => {
    const other = doingAfter(fact, state);
    if (other === undefined || (other.words === doing.words && other.isTurn === doing.isTurn)) return;
    doing = other;
    since = at;
  };
  return {
    fact: (fact, state) => take(fact, { state, at: now() }),
    past: (fact, state) => take(fact, { state, at: Math.min(fact.at, now()) }),
    life: () => void (lifeAt = now()),
    heard() {
      shownAt = now();
      pause = first;
    },
    close: () => clearInterval(timer),
  };
}

interface Doing {
  words: string;
  isTurn: boolean;
}

function doingAfter(fact: Fact, state: RunState): Doing | undefined {
  if (isAtRest(state)) return { words: pauseWords(state), isTurn: false };
  const short = (text: string): string => oneLine(text, { max: MAX_REASON_CHARS });
  const other = (words: string): Doing => ({ words, isTurn: false });
  switch (fact.type) {
    case "turn-start":
      return { words: `in turn ${fact.turn} of iteration ${fact.iteration}`, isTurn: true };
    case "check-start":
      return other(`running check ${short(fact.check)}`);
    case "wait-start":
      return other(`waiting: ${short(fact.reason)}`);
    case "human-requested":
      return other(`waiting for a person: ${short(fact.text)}`);
    case "proof-start":
    case "proof-end":
      return other(provingWords(openParts(state)) || "working");
    case "turn-end":
    case "change-recorded": {
      const check = awaitedBaseline(state);
      return other(check === undefined ? "working" : `running check ${short(check)} on the tree before the run`);
    }
    case "check-end":
    case "wait-end":
    case "human-answered":
      return other("working");
    default:
      return undefined;
  }
}
