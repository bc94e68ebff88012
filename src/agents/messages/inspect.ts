/** What became of a turn that nobody saw the end of: from the transcript alone, with what it cost. */
import { priceOf } from "../../platform/prices.ts";
import type { Found, OpenRequest, TurnEnd } from "../../ports.ts";
import { contextOf, meter, type Meter } from "../api-meter.ts";
import { callOf, TOOL as DONE } from "../done-call.ts";
import { readAnswer } from "./answer.ts";
import { callsIn, fieldText, lastText, type Block } from "./blocks.ts";
import { readTranscript, type Answered, type Entry } from "./transcript.ts";

export function inspectTurn(request: OpenRequest, { uuid }: { uuid: string }): Promise<Found> {
  const entries = readTranscript(request.home, request.session.ref);
  return Promise.resolve(
    foundIn(
      entries.filter((entry) => "turn" in entry && entry.turn === uuid),
      request,
    ),
  );
}

/** Of the entries of one turn. */
function foundIn(entries: readonly Entry[], request: OpenRequest): Found {
  const requests = entries.filter((entry) => entry.is === "request").length;
  if (requests === 0) return { is: "unknown" };
  const spent = spentIn(entries);
  // One that may be out, or was refused, has no usage.
  while (spent.usage().requests < requests) spent.bareRequest();
  const ran = entries.flatMap((entry) => (entry.is === "ran" ? [entry.execution] : []));
  const known = { tools: spent.tools(), ...(ran.length === 0 ? {} : { executions: ran }) };
  const ended = entries.findLast((entry) => entry.is === "end");
  if (ended?.end.outcome.is === "done") return { is: "ended", end: ended.end, ...known };
  const answers = entries.filter((entry) => entry.is === "answer");
  const last = ended === undefined && isLast(entries) ? answers.at(-1) : undefined;
  const end = last === undefined ? undefined : endBy(last, { answers, spent, request });
  if (end !== undefined) return { is: "ended", end, ...known };
  const messageId = answers.findLast(({ dropped }) => dropped !== true)?.id ?? null;
  return { is: "cut", usage: ended?.end.usage ?? spent.usage(), ...known, messageId };
}

const isLast = (entries: readonly Entry[]): boolean => entries.findLast(({ is }) => is !== "ran")?.is === "answer";

function spentIn(entries: readonly Entry[]): Meter {
  const spent = meter(priceOf);
  for (const entry of entries) {
    if (entry.is !== "answer" && entry.is !== "broken") continue;
    spent.message(entry.id, entry.model, entry.usage);
    if (entry.is === "answer")
      for (const { type, id, name } of entry.content)
        if (type === "tool_use" || type === "server_tool_use") spent.tool(String(id), String(name));
  }
  return spent;
}

interface About {
  answers: readonly Answered[];
  spent: Meter;
  request: OpenRequest;
}

/** The driver died between the last answer and its end; undefined: there would have been more. */
function endBy(last: Answered, { answers, spent, request }: About): TurnEnd | undefined {
  if (last.stop !== "end_turn" || callsIn(last.content).length > 0) return undefined;
  const finalText = lastText(last.content);
  const read = request.answer === undefined ? undefined : readAnswer(finalText, request.answer);
  if (read?.is === "misfit") return undefined;
  return {
    type: "turn-end",
    outcome: { is: "done" },
    usage: spent.usage(),
    finalText,
    call: lastCall(answers.flatMap(({ content }) => content)),
    ...(read === undefined ? {} : { answer: read.value }),
    messageId: last.id,
    contextTokens: contextOf(last.usage),
  };
}

const lastCall = (content: readonly Block[]): TurnEnd["call"] =>
  callsIn(content)
    .filter((call) => fieldText(call, "name") === DONE)
    .map((call) => callOf(call["input"]))
    .findLast((call) => call !== undefined) ?? null;
