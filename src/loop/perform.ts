/**
 * Does one action: writes the intent, does the effect through a port, writes the result. Every effect is repeatable, so
 * an intent without result is simply wanted again. A rejection from here means a broken machine, never a failed agent.
 */
import type { Action } from "./actions.ts";
import type { Hands } from "./hands.ts";
import { diffShape } from "./memory.ts";
import { judgeBase, judgeChange, skipped } from "./perform-check.ts";
import { endRun } from "./perform-end.ts";
import { answer, ask, hook } from "./perform-people.ts";
import { editTaskFile, lookAtTasks } from "./perform-tasks.ts";
import { prove } from "./perform-proof.ts";
import { restore } from "./perform-restore.ts";
import { closeSessions, warmUp } from "./perform-session.ts";
import { endStep, execute, givenPlan, layOutAnswer } from "./perform-solve.ts";
import { findOut, takeTurn } from "./perform-turn.ts";
import { recorded } from "./recorded.ts";
import { laneOf } from "./state.ts";

const MAX_SHAPE_DIFF_BYTES = 1024 * 1024;
/** A cut loses at most one character more. */
const MAX_CHARACTER_BYTES = 4;
const MAX_REMEMBERED_FAILURES = 20;

export async function perform(action: Action, hands: Hands, signal: AbortSignal): Promise<void> {
  const { run, ports } = hands;
  const { lane } = action;
  switch (action.do) {
    case "prepare":
      return await hands.exclusively(() => prepare(hands, lane));
    case "turn": {
      const sign = Promise.withResolvers<void>();
      hands.starting.set(lane, sign);
      return await takeTurn(action, hands, signal).finally(() => {
        sign.resolve();
        if (hands.starting.get(lane) === sign) hands.starting.delete(lane);
      });
    }
    case "find-out":
      return await findOut(action, hands);
    case "snapshot":
      return await hands.exclusively(() => snapshot(action, hands));
    case "baseline":
      return await judgeBase(action, hands, signal);
    case "check":
      return await judgeChange(action, hands, signal);
    case "skip":
      return await run.append([skipped(action)]);
    case "prove":
      return await prove(action, hands, signal);
    case "conclude": {
      const { check, tree, iteration, verdict } = action;
      return await run.append([{ type: "check-end", lane, check, tree, iteration, verdict }]);
    }
    case "remember":
      return await remember(action, hands);
    case "decide":
      return await run.append([action.decision]);
    case "accept":
      return await hands.exclusively(() => accept(action, hands));
    case "restore":
      return await hands.exclusively(() => restore(action, hands));
    case "wait":
      return await run.append([
        {
          type: "wait-start",
          lane,
          wait: action.key,
          reason: action.reason,
          until: action.until,
          untilElapsed: action.untilElapsed,
        },
      ]);
    case "bench": {
      const { seat, turn, reason, until, untilElapsed } = action;
      return await run.append([{ type: "agent-benched", lane, seat, turn, reason, until, untilElapsed }]);
    }
    case "end-wait":
      return await run.append([{ type: "wait-end", lane, wait: action.wait, why: action.why }]);
    case "tell":
      return await tell(action, hands, signal);
    case "switch-model":
      return await switchModel(action, hands);
    case "deliver":
      return await run.append([
        {
          type: "directive-delivered",
          lane,
          id: action.directive,
          how: action.how,
          turn: null,
          ...(action.refused === true ? { refused: true } : {}),
        },
      ]);
    case "ask":
      return await ask(action, hands);
    case "answer":
      return await answer(action, hands);
    case "hook":
      return await hook(action, hands, signal);
    case "edit-tasks":
      return await hands.exclusively(() => editTaskFile(action, hands, signal));
    case "execute":
      return await execute(action, hands, signal);
    case "end-step":
      return await endStep(action, hands);
    case "end":
      await closeSessions(hands);
      await ports.trace.flush();
      // A directive may have come meanwhile that lets the run go on.
      if (signal.aborted) return;
      return await hands.exclusively(() => endRun(action, hands, signal));
  }
}

async function prepare(hands: Hands, lane: string): Promise<void> {
  const { run, ports } = hands;
  // Both to their end: an agent that starts while the driver gives up would be left behind.
  const [prepared, warm] = await Promise.allSettled([ports.workspace.prepare(), warmUp(hands, lane)]);
  if (prepared.status === "rejected") throw prepared.reason;
  if (warm.status === "rejected") throw warm.reason;
  const at = run.state.createdAt;
  const first = await ports.workspace.snapshot(0, { parent: null, message: "pawl: base", at, by: "user" });
  await run.append([
    { type: "lane-start", lane, why: "run" },
    recorded(first, { lane, iteration: 0, n: 0, by: "user" }),
    ...(await lookAtTasks(hands, { lane, iteration: 0, by: "person" })),
    ...givenPlan(hands, lane),
  ]);
}

async function snapshot(action: Extract<Action, { do: "snapshot" }>, hands: Hands): Promise<void> {
  const { run, ports } = hands;
  const { lane, iteration, n, by, parent } = action;
  const message = by === "user" ? `pawl: before iteration ${iteration + 1}` : `pawl: after iteration ${iteration}`;
  if (by === "agent" && run.state.spec.solve !== undefined) await layOutAnswer(hands, lane);
  const taken = await ports.workspace.snapshot(n, { parent, message, at: run.now().wall, by });
  const tasks = await lookAtTasks(hands, { lane, iteration, by: by === "agent" ? "agent" : "person", taken });
  await run.append([recorded(taken, { lane, iteration, n, by }), ...tasks]);
}

async function remember(action: Extract<Action, { do: "remember" }>, { run, ports }: Hands): Promise<void> {
  const { lane, iteration, from, to, verdicts } = action;
  const diff = await ports.workspace.diff(from, to, MAX_SHAPE_DIFF_BYTES);
  const isCut = Buffer.byteLength(diff) > MAX_SHAPE_DIFF_BYTES - MAX_CHARACTER_BYTES;
  const { approach, summary } = diffShape(diff, isCut ? to : "");
  const failures = verdicts.flatMap((v) => (v.is === "fail" ? v.failures : [])).slice(0, MAX_REMEMBERED_FAILURES);
  await run.append([
    {
      type: "failure-recorded",
      lane,
      iteration,
      approach,
      summary,
      fingerprints: failures.map((f) => f.fingerprint),
      messages: failures.map((f) => f.message),
    },
  ]);
}

async function accept(action: Extract<Action, { do: "accept" }>, { run, ports }: Hands): Promise<void> {
  const { lane, iteration, tree, snapshot, message } = action;
  const laneState = laneOf(run.state, lane);
  if (laneState.effect?.kind !== "commit" || laneState.effect.tree !== tree) {
    await run.append([{ type: "effect-intended", lane, effect: action.key, kind: "commit", iteration, tree, message }]);
  }
  // The intent's own time and message: repeated after a crash they make the same commit.
  const intent = laneState.effect;
  const accepted = await ports.workspace.accept({
    tree,
    snapshot,
    message: intent?.message ?? message,
    at: intent?.at ?? run.now().wall,
  });
  await run.append([{ type: "change-accepted", lane, iteration, tree, ...accepted }]);
}

/** In the running turn where the agent can; where a session keeps its model the next turn begins another, and it is said. */
async function switchModel(action: Extract<Action, { do: "switch-model" }>, hands: Hands): Promise<void> {
  const { lane, model, directive: id } = action;
  const running = hands.running.get(lane);
  const live = [...hands.sessions.values()].find(({ session }) => session === running?.session);
  const gap = hands.ports.agents[live?.agent ?? ""]?.gaps.find(({ cannot }) => cannot === "switch-model");
  const when = running === undefined || gap !== undefined ? "next-turn" : await running.session.setModel(model);
  if (live !== undefined && when === "now") live.model = model;
  const inNew = gap === undefined ? "" : `, in a fresh session: ${gap.reason}`;
  const how = when === "now" ? `switched to ${model} in the running turn` : `next turn uses ${model}${inNew}`;
  await hands.run.append([{ type: "directive-delivered", lane, id, how, turn: running?.turn ?? null }]);
}

/** Under way until the text is in a request to the model, or the turn is over; what was not taken stands in the next prompt. */
async function tell(action: Extract<Action, { do: "tell" }>, hands: Hands, signal: AbortSignal): Promise<void> {
  const running = hands.running.get(action.lane);
  if (running === undefined) return;
  const arrived = new Promise<void>((resolve) => running.delivered.set(action.directive, resolve));
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const over = Promise.race([running.ended, aborted]);
  await Promise.race([running.begun, over]);
  if (signal.aborted) return;
  const delivery = await running.session.say(action.directive, action.text);
  await (delivery === "now" ? Promise.race([arrived, over]) : over);
}
