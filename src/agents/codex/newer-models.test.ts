/**
 * The real Codex with the models that call all their tools from a script of theirs, and with a switch of models: inside
 * a turn where Codex can, else with the next one, which it then begins by summing up the conversation.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { promptFor, startScriptedModel, type ScriptedModel } from "../../../test/support/claude.ts";
import { codexPlace, exec, script, scriptedExec, scriptedPatch } from "../../../test/support/codex.ts";
import { waitFor } from "../../../test/support/temp.ts";
import type { TurnEnd } from "../../ports.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
});
afterAll(() => model.standin.close());

/** What the model billed since, in the words of a turn's usage. */
function billedSince(before: ScriptedModel["standin"]["billing"]): object {
  const { inputTokens, outputTokens, cacheReadTokens, requests, usd } = model.standin.billing;
  return {
    inputTokens: inputTokens - before.inputTokens,
    outputTokens: outputTokens - before.outputTokens,
    cacheReadTokens: cacheReadTokens - before.cacheReadTokens,
    requests: requests - before.requests,
    usd: expect.closeTo((usd ?? 0) - (before.usd ?? 0), 8),
  };
}

it("runs commands, patches and calls from a script, takes words and another model meanwhile, and costs what it cost", async () => {
  const { session, request, agent } = await codexPlace(model.standin.url, { model: "gpt-5.6-sol" });
  const before = { ...model.standin.billing };
  const uuid = randomUUID();
  const told: Promise<string>[] = [];
  const steps = [
    { text: "Writing.", ...scriptedPatch("made.txt", "made\n") },
    // What is said ends the wait for it.
    scriptedExec("echo one; sleep 30"),
    script(`text(await tools.done({ status: "done", summary: "x" }))`),
    { text: "All done." },
  ];
  const { end, events } = await play(session, promptFor(steps), {
    uuid,
    onEvent(event) {
      if (event.type !== "tool-start" || event.name !== "exec_command") return;
      const switched = session.setModel("gpt-5.6-terra");
      told.push(
        switched,
        switched.then(() => session.say("d1", "mind the quokka")),
      );
    },
  });
  expect(await Promise.all(told)).toEqual(["now", "now"]);
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "All done.", call: { is: "done", text: "x" } });
  expect(readFileSync(join(request.workspace, "made.txt"), "utf8")).toBe("made\n");
  expect(events.filter((event) => event.type === "delivered")).toEqual([{ type: "delivered", directive: "d1" }]);
  expect(model.seen.slice(-4).map((seen) => seen.model)).toEqual([
    "gpt-5.6-sol",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-terra",
  ]);
  expect(model.seen.slice(-4).map(({ words }) => words.split("quokka").length - 1)).toEqual([0, 0, 1, 1]);
  expect(model.seen.every(({ system }) => !system.includes("spawn_agent"))).toBe(true);
  expect(end.usage).toMatchObject(billedSince(before));
  const found = await agent.inspect(request, { uuid });
  expect(found).toMatchObject({ is: "ended", end: { finalText: "All done.", call: end.call, usage: end.usage } });
});

it("tells that words were delivered in a turn that is interrupted before the model answers them, and has them once", async () => {
  const { session } = await codexPlace(model.standin.url, { model: "gpt-5.6-sol" });
  const controller = new AbortController();
  const words = 'mind the "quokka"\nin the room';
  const { end, events } = await play(session, promptFor([scriptedExec("sleep 30"), { hang: true }]), {
    signal: controller.signal,
    onEvent(event) {
      if (event.type !== "tool-start") return;
      const before = model.seen.length;
      void session.say("d1", words);
      void waitFor(() => model.seen.length > before, { what: "the request" }).then(() => controller.abort("stop"));
    },
  });
  expect(end.outcome.is).toBe("interrupted");
  expect(events.filter((event) => event.type === "delivered")).toEqual([{ type: "delivered", directive: "d1" }]);
  await play(session, promptFor([{ text: "gone on" }]));
  expect(model.seen.at(-1)?.words.split(words)).toHaveLength(2);
});

it("only answers, with a script that reaches no command and no file", async () => {
  const schema = {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  const { session, request } = await codexPlace(model.standin.url, { model: "gpt-5.6-sol", answer: schema });
  const { end } = await play(
    session,
    promptFor([scriptedPatch("a.txt", "a\n"), scriptedExec("echo x > b.txt"), { text: '{"ok": true}' }]),
  );
  expect(end).toMatchObject({ outcome: { is: "done" }, answer: { ok: true } });
  expect(readdirSync(request.workspace)).toEqual([]);
});

it("sums up the conversation for a model of another kind: counted once, and nothing told before it was said", async () => {
  const { session, request, agent, again } = await codexPlace(model.standin.url, { model: "gpt-5.5" });
  const before = { ...model.standin.billing };
  const ends: TurnEnd[] = [];
  ends.push((await play(session, promptFor([{ text: "one" }]))).end);
  const running: Promise<string>[] = [];
  const late = await play(session, promptFor([exec("sleep 0.2"), { text: "two" }]), {
    onEvent: (event) => event.type === "tool-start" && running.push(session.setModel("gpt-5.6-luna")),
  });
  expect(await Promise.all(running)).toEqual(["next-turn"]);
  ends.push(late.end);
  await session.close();

  const next = await again({ ref: request.session.ref, mode: "continue" });
  expect(await next.setModel("gpt-5.6-luna")).toBe("next-turn");
  const uuid = randomUUID();
  const { end, events } = await play(next, promptFor([scriptedExec("echo three"), { text: "three" }]), { uuid });
  ends.push(end);
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "three", usage: { requests: 3, toolCalls: 1 } });
  // The first request was for the summary: the prompt was not in it.
  const told = events.flatMap((event) =>
    event.type === "notice" ? [event.text] : event.type === "request" ? ["request"] : [],
  );
  expect(told.filter((one) => /^request$|compacted/.test(one))).toEqual([
    "the agent compacted its conversation",
    "request",
    "request",
  ]);
  const sum = (field: "inputTokens" | "outputTokens" | "cacheReadTokens" | "requests" | "usd"): number =>
    ends.reduce((all, { usage }) => all + (usage[field] ?? 0), 0);
  expect({
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cacheReadTokens: sum("cacheReadTokens"),
    requests: sum("requests"),
    usd: sum("usd"),
  }).toEqual(billedSince(before));
  expect(await agent.inspect(request, { uuid })).toMatchObject({ is: "ended", end: { usage: end.usage } });
});
