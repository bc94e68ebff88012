/** `--native-goal`: the real Codex goes on by itself while its goal is active; pawl's turn holds all of that. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { codexPlace, crash, exec, type CodexPlace } from "../../../test/support/codex.ts";
import { plainAgent } from "../../../test/support/spec.ts";
import type { AgentEvent } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";
import { startStandin, type Standin } from "../../standin/server.ts";

const GOAL = "make a file that holds";
const says = (status: "complete" | "blocked"): Step => ({ tools: [{ name: "update_goal", input: { status } }] });

/** One answer for each request, in order. */
let steps: Step[] = [];
let asked: string[] = [];
let standin: Standin;
beforeAll(async () => {
  const script = ({ turns }: { turns: readonly { texts: readonly string[] }[] }): Step => {
    asked.push(turns.findLast(({ texts }) => texts.length > 0)?.texts.join("\n") ?? "");
    return steps.shift() ?? { text: "unasked" };
  };
  standin = await startStandin({ script });
});
afterAll(() => standin.close());

async function place(options: Record<string, string | number> = {}): Promise<CodexPlace> {
  asked = [];
  const agent = { ...plainAgent, name: "codex", ...LIMITS, options: { nativeGoal: GOAL, ...options } };
  return await codexPlace(standin.url, { agent });
}

const notices = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
const WENT_ON = "codex goes on with its goal by itself";
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
/** In which Codex would have begun another turn many times over. */
const SILENCE_MS = 500;

it("is one turn until Codex says that its goal is reached, and costs what the model billed", async () => {
  const { session, agent, request } = await place();
  const before = { ...standin.billing };
  steps = [{ text: "a start" }, exec("echo 1"), { text: "more" }, says("complete"), { text: "all of it" }];
  const uuid = randomUUID();
  const { end, events } = await play(session, "do it", { uuid });
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "all of it", call: null, usage: { requests: 5 } });
  expect(notices(events)).toEqual([WENT_ON, WENT_ON, "codex says of its goal: complete"]);
  expect(asked[0]).toContain("do it");
  expect(asked[1]).toContain(`<objective>\n${GOAL}\n</objective>`);
  const { billing } = standin;
  expect(end.usage).toMatchObject({
    inputTokens: billing.inputTokens - before.inputTokens,
    outputTokens: billing.outputTokens - before.outputTokens,
    cacheReadTokens: billing.cacheReadTokens - before.cacheReadTokens,
    requests: billing.requests - before.requests,
  });
  // Its record of all these turns says the same.
  const found = await agent.inspect(request, { uuid });
  expect(found).toMatchObject({ is: "ended", end: { finalText: "all of it", messageId: end.messageId } });
  expect(found.is === "ended" && found.end.usage).toEqual(end.usage);

  steps = [says("blocked"), { text: "stuck" }];
  const next = await play(session, "again");
  expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "stuck", usage: { requests: 2 } });
  await quiet();
  expect(asked).toHaveLength(7);
});

it("ends with an interrupt, a limit of requests or a refusal, and nothing goes on after that, in no process", async () => {
  const { session, again, agent, request } = await place({ maxTurns: 3 });
  const controller = new AbortController();
  const uuid = randomUUID();
  steps = [{ text: "a start" }, exec("sleep 30")];
  const cut = await play(session, "do it", {
    uuid,
    signal: controller.signal,
    onEvent: (event) => event.type === "tool-start" && controller.abort("stop"),
  });
  expect(cut.end).toMatchObject({ outcome: { is: "interrupted", by: "stop" }, usage: { requests: 2 } });
  expect(await agent.inspect(request, { uuid })).toMatchObject({ is: "cut", usage: { requests: 2 } });
  await quiet();
  expect(asked).toHaveLength(2);

  steps = [{ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" }];
  const limited = await play(session, "go on");
  expect(limited.end).toMatchObject({ outcome: { is: "failed", kind: "max-turns" }, usage: { requests: 3 } });
  await quiet();
  expect(asked).toHaveLength(5);

  steps = [{ text: "a start" }, { status: 429, retryAfterS: 600 }];
  expect((await play(session, "go on")).end.outcome).toMatchObject({ is: "limited", kind: "rate" });
  await quiet();
  expect(asked).toHaveLength(7);
  await session.close();

  const next = await again({ ...request.session, mode: "continue" });
  await next.warm?.();
  await quiet();
  expect(asked).toHaveLength(7);
  steps = [says("complete"), { text: "ok" }];
  expect((await play(next, "and now")).end).toMatchObject({ finalText: "ok", usage: { requests: 2 } });
  expect(asked).toHaveLength(9);
});

it("is stopped between two of its turns, and one that dies with an active goal does not go on by itself", async () => {
  const { session, again, request } = await place();
  const controller = new AbortController();
  steps = [{ text: "a start" }];
  const stopped = await play(session, "do it", {
    signal: controller.signal,
    onEvent: (event) => event.type === "notice" && controller.abort("stop"),
  });
  expect(stopped.end.outcome).toEqual({ is: "interrupted", by: "stop" });
  await quiet();
  const before = asked.length;
  // One may have left in that moment.
  expect(before).toBeLessThanOrEqual(2);

  steps = [{ text: "a start" }, crash(), { text: "unasked" }];
  const died = await play(session, "go on");
  expect(died.end.outcome.is).toBe("cut");
  expect(died.end.usage.requests).toBe(2);
  await session.close();
  const next = await again({ ...request.session, mode: "continue" });
  await next.warm?.();
  await quiet();
  expect(asked).toHaveLength(before + 2);
  steps = [says("complete"), { text: "well" }];
  expect((await play(next, "and now")).end).toMatchObject({ outcome: { is: "done" }, finalText: "well" });
  expect(asked).toHaveLength(before + 4);
});
