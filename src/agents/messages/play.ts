/**
 * The turn itself: request, answer, tools, and again, until the model is done or something ends it. Every request and every
 * answer is on disk before what follows from it.
 */
import type { TurnOutcome } from "../../events.ts";
import type { OpenRequest, TurnEnd, TurnRequest } from "../../ports.ts";
import { sumOf } from "../claude/meter.ts";
import { failed, maxTurns } from "../ending.ts";
import { brief } from "../outcome.ts";
import { readAnswer } from "./answer.ts";
import { ask, type Asked, type Asking } from "./ask.ts";
import { callsIn, fieldText, lastText, piecesOf, textBlock, type Block, type Said } from "./blocks.ts";
import { withPrompt } from "./conversation.ts";
import { executionReader } from "./executions.ts";
import type { MessagesOptions } from "./options.ts";
import { paramsOf } from "./params.ts";
import { producedBy } from "./produced.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Answer } from "./stream.ts";
import type { Tool } from "./tools.ts";
import { useTools, type Using } from "./use-tools.ts";

/** So often an answer that does not fit its form is sent back. */
const MAX_MISFITS = 2;
/** So often an answer that was too long is gone on with. */
const MAX_GOING_ON = 1;
const GO_ON = "Continue from where you left off.";
const NEW_CONTAINER = "The container is a new one: the files are there again, everything else in it is gone.";
/** With these a container that is over was seen to be refused. */
const CONTAINER_REFUSALS: readonly (number | null)[] = [400, 404, 500];
const NOT_FOUND = 404;

export interface Playing extends Asking, Omit<Using, keyof Asking | "onCall"> {
  request: OpenRequest;
  options: MessagesOptions;
  system: string;
  tools: readonly Tool[];
  /** The conversation so far; grows. */
  said: Said[];
  sandbox: Sandbox | undefined;
  /** Of the session, at this moment. */
  model(): string;
}

export type Played = Pick<TurnEnd, "outcome" | "finalText" | "call" | "messageId" | "contextTokens" | "answer">;

/** Never rejects for what the model, the API or a tool does. */
export async function play({ prompt, breaks }: TurnRequest, playing: Playing): Promise<Played> {
  const { turn, request, options, transcript, said, sandbox, meter, says, tell, signal } = playing;
  const { fallbackModel } = request.agent;
  const executions = executionReader();
  const end: Played = { outcome: { is: "done" }, finalText: "", call: null, messageId: null, contextTokens: null };
  let [fallen, rebuilt, misfits, goneOn] = [false, false, 0, 0];
  /** Of an answer that was too long, what came of it so far. */
  let carried = "";

  const tellModel = (content: Block[]): void => {
    transcript.write({ is: "user", turn, content });
    said.push({ role: "user", content });
  };
  const uploads = async (): Promise<Block[]> =>
    sandbox === undefined || sandbox.container() !== undefined ? [] : await sandbox.uploads(signal);
  const request1 = (): Promise<Asked> => {
    const current =
      sandbox === undefined ? said : said.map((one) => ({ ...one, content: one.content.map(sandbox.current) }));
    const params = paramsOf({
      model: fallen && fallbackModel !== undefined ? fallbackModel : playing.model(),
      options,
      system: playing.system,
      tools: playing.tools,
      said: current,
      answer: request.answer,
      container: sandbox?.container(),
      contextLimitTokens: request.agent.contextLimitTokens,
    });
    return ask(params, playing);
  };
  /** Another model may do what this one cannot now, or does not want to. True: it is asked. */
  const fallBack = (why: string): boolean => {
    if (fallen || fallbackModel === undefined || fallbackModel === playing.model()) return false;
    fallen = true;
    tell({ type: "notice", text: `${why}: on with ${fallbackModel}` });
    return true;
  };

  try {
    const content = [...piecesOf(prompt, breaks), ...(await uploads())];
    transcript.write({ is: "prompt", turn, content });
    said.splice(0, said.length, ...withPrompt(said, content));
    for (let requests = 0; ; requests += 1) {
      if (options.maxTurns !== undefined && requests >= options.maxTurns)
        return { ...end, outcome: maxTurns(options.maxTurns) };
      const held = sandbox?.container();
      const asked = await request1();
      if (asked.is === "refused") {
        const { refusal, outcome } = asked;
        if (signal.aborted) return { ...end, outcome };
        if (outcome.is === "limited" && outcome.kind === "overloaded" && fallBack("the model is overloaded")) continue;
        if (sandbox !== undefined && !rebuilt && CONTAINER_REFUSALS.includes(refusal.status)) {
          rebuilt = true;
          if (refusal.status === NOT_FOUND) await sandbox.reload(signal);
          sandbox.lost();
          if (held !== undefined) {
            tell({ type: "notice", text: "the container is gone; a new one is made" });
            tellModel([textBlock(NEW_CONTAINER), ...(await uploads())]);
          }
          if (held !== undefined || options.files.length > 0) continue;
        }
        return { ...end, outcome };
      }
      const { answer } = asked;
      const isRefusal = answer.stop === "refusal";
      note(answer, playing, isRefusal);
      end.messageId = isRefusal ? end.messageId : answer.id;
      end.contextTokens = tokensOf(answer, playing);
      tell({ type: "message", id: answer.id });
      if (answer.cleared > 0)
        tell({ type: "notice", text: `the provider left ${answer.cleared} tokens of old results out` });
      if (sandbox !== undefined) {
        if (answer.container !== undefined) sandbox.used(answer.container);
        for (const ran of executions.take(answer)) {
          tell({ type: "execution", ...(await producedBy(ran, { ...playing, sandbox, container: answer.container })) });
          if (ran.gone) sandbox.lost();
        }
      }
      if (isRefusal) {
        if (fallBack("the model refused")) continue;
        return { ...end, outcome: refused(answer) };
      }
      const calls = callsIn(answer.blocks);
      if (calls.length > 0) {
        const results = await useTools(calls, { ...playing, onCall: (call) => (end.call = call) });
        tellModel([...results, ...says.take()]);
        if (signal.aborted) return { ...end, outcome: OVER };
        continue;
      }
      if (answer.stop === "pause_turn") {
        if (says.waiting()) tellModel(says.take());
        continue;
      }
      if (answer.stop === "model_context_window_exceeded")
        return {
          ...end,
          outcome: { is: "failed", kind: "context", message: "the conversation fills the model's window" },
        };
      const text = carried + lastText(answer.blocks);
      end.finalText = text;
      if (answer.stop === "max_tokens") {
        if (goneOn >= MAX_GOING_ON)
          return { ...end, outcome: failed(`the answer is longer than ${options.maxTokens} tokens, twice in a row`) };
        goneOn += 1;
        carried = answer.torn.length === 0 ? text : "";
        tellModel([textBlock(GO_ON), ...says.take()]);
        continue;
      }
      carried = "";
      if (says.waiting()) {
        tellModel(says.take());
        continue;
      }
      if (request.answer !== undefined) {
        const read = readAnswer(text, request.answer);
        if (read.is === "fits") end.answer = read.value;
        else {
          misfits += 1;
          if (misfits > MAX_MISFITS)
            return { ...end, outcome: failed(`its answer does not fit the form: ${read.why}`) };
          tellModel([
            textBlock(`That does not fit the form that was asked for: ${read.why}. Answer again, in that form.`),
          ]);
          continue;
        }
      }
      if (!says.close()) continue;
      return end;
    }
  } catch (error) {
    return { ...end, outcome: { is: "cut", reason: brief(String(error)) } };
  }
}

const OVER: TurnOutcome = { is: "cut", reason: "the turn was ended" };

/** Nothing of a refusal is told to a model again. */
function note(
  { id, model, blocks, stop, usage }: Answer,
  { turn, transcript, said, meter }: Playing,
  drop: boolean,
): void {
  transcript.write({ is: "answer", turn, id, model, content: blocks, stop, usage, ...(drop ? { dropped: true } : {}) });
  for (const block of blocks)
    if (block.type === "server_tool_use") meter.tool(fieldText(block, "id"), fieldText(block, "name"));
  if (!drop && blocks.length > 0) said.push({ role: "assistant", content: blocks, id });
}

function tokensOf({ id }: Answer, { meter }: Playing): number | null {
  const tokens = meter.of(id);
  return tokens === undefined ? null : sumOf(tokens);
}

function refused({ stopDetails }: Answer): TurnOutcome {
  const { explanation } = (stopDetails ?? {}) as { explanation?: unknown };
  const why = typeof explanation === "string" ? `: ${explanation}` : "";
  return { is: "failed", kind: "refused", message: brief(`the model refused${why}`) };
}
