/**
 * The loop. What should be in flight is a pure function of the facts; this file only keeps the world in line with it.
 * A run that was killed is driven again by the same function.
 */
import type { Fact, NewFact } from "../events.ts";
import type { OwnedRun, Ports } from "../ports.ts";
import type { Limits } from "../spec.ts";
import type { Action, Now, Recipe } from "./actions.ts";
import { makeGate, type Between } from "./between.ts";
import { apply } from "./fold.ts";
import { makeHands, type Run } from "./hands.ts";
import { isBetween } from "./iterate.ts";
import { closeSessions } from "./perform-session.ts";
import { perform } from "./perform.ts";
import type { RunState } from "./state.ts";
import { wanted, type Wanted } from "./wanted.ts";

/** Wall-clock waits are looked at this often, so that a clock that jumps is noticed. */
const WALL_CHECK_MS = 30_000;

/** Nobody drove the run before. */
const FIRST_EPOCH = 1;

export interface DriveOptions {
  run: string;
  recipe: Recipe;
  ports: Ports;
  /** Aborting stops the driving, not the run: it can be driven again. */
  signal: AbortSignal;
  /** Given when an ended run shall go on. */
  reopen?: { limits: Limits; model?: string };
  /** Awaited once nothing refuses the driving; nothing of the run has changed before. */
  begin?: () => Promise<void>;
  onFact?: (fact: Fact, state: RunState) => void;
  /** Awaited before each iteration but the first. A rejection stops the driving, not the run. */
  between?: Between;
}

interface Flight {
  action: Action;
  controller: AbortController;
}

export async function drive(options: DriveOptions): Promise<RunState> {
  const { run: id, recipe, ports, signal, reopen, begin, onFact, between } = options;
  let folded: RunState | undefined;
  const owned = await ports.journal.own(id, ports.owner, (fact) => (folded = apply(folded, fact)));
  if (folded === undefined) throw new Error("an empty journal has no state");
  // An agent is started ahead of the first lease, so a first driver that did not begin the run sweeps, too.
  const isNew = owned.epoch === FIRST_EPOCH && ports.ahead !== undefined;
  const swept = isNew ? 0 : await ports.sweep(id);
  const wake = makeWake();
  const run = openRun(owned, folded, ports, (fact, state) => {
    onFact?.(fact, state);
    wake.ring();
  });
  const hands = makeHands(run, recipe, ports);
  const flights = new Map<string, Flight>();
  const over = new AbortController();
  const failed: unknown[] = [];
  const fail = (error: unknown): void => {
    failed.push(error);
    wake.ring();
  };
  const take = (): Promise<void> => run.takeDirectives(over.signal);
  const gate = makeGate({ between, state: run.state, take, fail, ring: () => wake.ring() });
  try {
    if (!isNew) await ports.workspace.ready?.(isBetween(run.state) ? "between" : "within");
    await begin?.();
    await run.append([{ type: "lease-changed", ...ports.owner, swept }]);
    // Before anything is done: a stop may wait there, or a resume that takes it back. What was said to a run that ended,
    // a late stop above all, does not end the one that is reopened.
    await run.takeDirectives(over.signal);
    if (run.state.outcome !== undefined && reopen !== undefined) {
      await run.append([{ type: "run-reopened", was: run.state.outcome, ...reopen }]);
    }
    run.listen(over.signal).catch(fail);
    const ring = (): void => wake.ring();
    signal.addEventListener("abort", ring);
    let tried = { seq: -1, keys: new Set<string>() };
    while (run.state.outcome === undefined && failed.length === 0 && !signal.aborted) {
      // One look at the clock: a deadline between two would be slept over.
      const now = run.now();
      const next = wanted(recipe, run.state, now);
      for (const [key, flight] of flights) if (!next.actions.has(key)) flight.controller.abort(next.because);
      if (tried.seq !== run.state.seq) tried = { seq: run.state.seq, keys: new Set() };
      for (const [key, action] of next.actions) {
        // An effect that came to nothing is not tried again before something happens: the loop is never a busy one.
        if (flights.has(key) || tried.keys.has(key)) continue;
        // The end is the last fact: what is in flight has its say first, and may change what is wanted.
        if (action.do === "end") gate.leave();
        if (action.do === "end" && flights.size > 0) continue;
        // A decision that is being written closes the iteration: no turn begins in it any more.
        if (action.do === "turn" && [...flights.values()].some((flight) => flight.action.do === "decide")) continue;
        if (gate.holds(action, { idle: flights.size === 0 })) continue;
        tried.keys.add(key);
        const flight = { action, controller: new AbortController() };
        flights.set(key, flight);
        void perform(action, hands, flight.controller.signal)
          .catch(fail)
          .finally(() => {
            flights.delete(key);
            // What gave way to others lets them try again, though it wrote nothing.
            if (flight.controller.signal.aborted) tried.keys.clear();
            wake.ring();
          });
      }
      await wake.next(delayUntil(next.wakeAt, now), ports.clock);
    }
    signal.removeEventListener("abort", ring);
    if (failed.length > 0) throw failed[0];
    return run.state;
  } finally {
    gate.leave();
    over.abort();
    for (const flight of flights.values()) flight.controller.abort("driver:ending");
    await settle(flights, wake);
    await closeSessions(hands);
    await ports.trace.flush();
    await owned.release();
  }
}

/** Lets what was aborted write its last facts; a broken journal has already been reported. */
async function settle(flights: Map<string, Flight>, wake: Wake): Promise<void> {
  while (flights.size > 0) await wake.next(null, undefined);
}

function delayUntil(wakeAt: Wanted["wakeAt"], now: Now): number | null {
  const delays: number[] = [];
  if (wakeAt.elapsed !== null) delays.push(Math.max(0, wakeAt.elapsed - now.elapsed));
  if (wakeAt.wall !== null) delays.push(Math.min(WALL_CHECK_MS, Math.max(0, wakeAt.wall - now.wall)));
  const positive = delays.filter((delay) => delay > 0);
  return positive.length === 0 ? null : Math.min(...positive) + 1;
}

interface Wake {
  ring(): void;
  /** Resolves at the next ring (or at once if one came since the last wait), or after `delayMs`. */
  next(delayMs: number | null, clock: Ports["clock"] | undefined): Promise<void>;
}

function makeWake(): Wake {
  let rung = false;
  let waiter: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      waiter?.();
    },
    async next(delayMs, clock) {
      if (!rung) {
        const timer = delayMs === null || clock === undefined ? undefined : new AbortController();
        await new Promise<void>((resolve) => {
          waiter = resolve;
          if (timer !== undefined) void clock?.sleep(delayMs ?? 0, timer.signal).then(resolve);
        });
        waiter = undefined;
        timer?.abort("rung");
      }
      rung = false;
    },
  };
}

/** What waits to be written; `holds` is asked last, when everything before it is a fact. */
interface Entry {
  facts: readonly NewFact[];
  holds?: () => boolean;
  written: boolean;
}

/** One queue for all appends of this driver: order of calls is order of facts, and calls that wait together commit together. */
function openRun(
  owned: OwnedRun,
  state: RunState,
  ports: Ports,
  onFact: (fact: Fact, state: RunState) => void,
): Run & Record<"takeDirectives" | "listen", (until: AbortSignal) => Promise<void>> {
  const startedMono = ports.clock.mono();
  const startedElapsed = state.elapsed;
  // Tenths of a millisecond are enough, and short numbers are read faster.
  const drivenMs = (): number => Math.round((startedElapsed + ports.clock.mono() - startedMono) * 10) / 10;
  const now = (): Now => ({ wall: ports.clock.wall(), elapsed: drivenMs() });
  const time = (): { at: number; elapsed: number } => ({ at: now().wall, elapsed: now().elapsed });
  const take = (facts: readonly Fact[]): void => {
    for (const fact of facts) {
      apply(state, fact);
      onFact(fact, state);
    }
  };
  let queue: Promise<void> = Promise.resolve();
  let gathered: Entry[] | undefined;
  const enqueue = (work: () => Promise<void>): Promise<void> => {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  };
  let batch: Promise<void> = Promise.resolve();
  const enter = (entry: Entry): Promise<void> => {
    if (gathered !== undefined) {
      gathered.push(entry);
      return batch;
    }
    const mine = [entry];
    gathered = mine;
    batch = enqueue(async () => {
      gathered = undefined;
      const kept = mine.filter(({ holds }) => holds?.() ?? true);
      if (kept.length > 0)
        take(
          await owned.append(
            kept.flatMap(({ facts }) => facts),
            time(),
          ),
        );
      for (const one of kept) one.written = true;
    });
    return batch;
  };
  const takeDirectives = (until: AbortSignal): Promise<void> =>
    enqueue(async () => {
      if (!until.aborted) take(await owned.takeDirectives(time()));
    });
  return {
    state,
    now,
    append: (facts) => enter({ facts, written: false }),
    async appendIf(holds, facts) {
      const entry = { facts, holds, written: false };
      await enter(entry);
      return entry.written;
    },
    takeDirectives,
    async listen(until) {
      while (!until.aborted) {
        await takeDirectives(until);
        await owned.inboxChanged(until);
      }
    },
  };
}
