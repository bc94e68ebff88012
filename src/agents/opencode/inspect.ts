/** What became of a turn nobody saw the end of, from opencode's record of it. Read-only. */
import type { Found, OpenRequest, TurnEnd } from "../../ports.ts";
import { callOf } from "./done.ts";
import { sessionOf } from "./home.ts";
import type { Environment } from "./login.ts";
import { isObject, numberAt, objectAt, textAt, type Json } from "./json.ts";
import { contextOf, meter, type Meter } from "./meter.ts";
import { isFinish, MARK } from "./reader.ts";
import { askRecord, readRecord, type Recorded, type TurnRecord } from "./record.ts";
import { attachedClient } from "./sdk.ts";
import { notedSpent } from "./spent.ts";

export async function inspectTurn(
  request: Pick<OpenRequest, "home" | "session" | "workspace" | "agent">,
  { uuid, user }: { uuid: string; user: Environment },
): Promise<Found> {
  const { home, session } = request;
  const id = sessionOf(home, session.ref);
  if (id === undefined) return { is: "unknown" };
  const { server } = request.agent.options;
  const about = { session: id, mark: uuid };
  const record =
    typeof server === "string"
      ? await askRecord(await attachedClient(server, { user, directory: request.workspace }), about)
      : await readRecord(home, about);
  return record === undefined ? { is: "unknown" } : foundIn(record, { uuid, noted: notedSpent(home) });
}

interface About {
  uuid: string;
  noted: ReturnType<typeof notedSpent>;
}

function foundIn({ messages, subagents }: TurnRecord, { uuid, noted }: About): Found {
  const next = messages.findIndex((one, at) => at > 0 && isPromptOfOther(one, uuid));
  const until = next < 0 ? undefined : messages[next]?.id;
  const own = next < 0 ? messages : messages.slice(0, next);
  const answers = own.filter(({ info }) => info["role"] === "assistant");
  // The message that is to be filled is written before the request leaves.
  if (answers.length === 0) return { is: "unknown" };
  const spent = meter();
  const meanwhile = subagents.filter(
    ({ id, info }) => info["role"] === "assistant" && (until === undefined || id < until),
  );
  for (const one of [...answers, ...meanwhile]) count(one, { spent, noted });
  const usage = spent.usage(answers.length + meanwhile.length);
  const tools = spent.tools();
  const last = answers.findLast(({ info }) => info["summary"] !== true);
  const messageId = answers.at(-1)?.id ?? null;
  if (last === undefined || last !== answers.at(-1) || !isFinished(last.info)) {
    return { is: "cut", usage, tools, messageId };
  }
  const end: TurnEnd = {
    type: "turn-end",
    outcome: { is: "done" },
    usage,
    // Before it are tries that broke off.
    finalText: last.parts
      .slice(last.parts.findLastIndex((part) => part["type"] === "step-start") + 1)
      .filter(isText)
      .map((part) => textAt(part, "text"))
      .join(""),
    call: lastCall(answers),
    ...(last.info["structured"] === undefined ? {} : { answer: last.info["structured"] }),
    messageId,
    contextTokens:
      last.parts
        .filter((part) => part["type"] === "step-finish")
        .map(contextOf)
        .at(-1) ?? null,
  };
  return { is: "ended", end, tools };
}

/** What was said into the turn carries its uuid, too; what opencode itself says carries none. */
function isPromptOfOther({ info, parts }: Recorded, uuid: string): boolean {
  if (info["role"] !== "user") return false;
  const marks = parts.map((part) => textAt(objectAt(part, "metadata"), MARK)).filter((mark) => mark !== "");
  return marks.some((mark) => mark !== uuid && !mark.startsWith(`${uuid}/`));
}

const isText = (part: Json): boolean => part["type"] === "text" && part["synthetic"] !== true;

const isFinished = (info: Json): boolean =>
  numberAt(objectAt(info, "time"), "completed") > 0 && isFinish(info) && !isObject(info["error"]);

function count(
  { info, parts, session, until }: Recorded,
  { spent, noted }: { spent: Meter; noted: About["noted"] },
): void {
  const created = numberAt(objectAt(info, "time"), "created");
  const finished = parts.some((part) => part["type"] === "step-finish");
  // Cut before opencode told what it cost: the gateway has noted it.
  const cut = noted.filter((one) => one.session === session && one.at >= created && one.at < until);
  for (const one of finished ? [] : cut) spent.spent({ ...one, model: textAt(info, "modelID") });
  for (const part of parts) {
    if (part["type"] === "step-finish") spent.response(textAt(info, "modelID"), { ...part, sessionID: session });
    if (part["type"] === "tool" && textAt(objectAt(part, "state"), "status") !== "pending") {
      spent.tool(textAt(part, "callID"), textAt(part, "tool"));
    }
  }
}

function lastCall(answers: readonly Recorded[]): TurnEnd["call"] {
  const calls = answers.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const state = objectAt(part, "state");
      const call = state["status"] === "completed" ? callOf(textAt(part, "tool"), state["input"]) : undefined;
      return call === undefined ? [] : [call];
    }),
  );
  return calls.at(-1) ?? null;
}
