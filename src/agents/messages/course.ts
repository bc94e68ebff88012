/** The course of one turn: what it is played with, and what is known of it so far. */
import type { TurnOutcome } from "../../events.ts";
import type { OpenRequest, TurnEnd } from "../../ports.ts";
import type { Asking } from "./ask.ts";
import { textBlock, type Block, type Said } from "./blocks.ts";
import { executionReader, type ExecutionReader } from "./executions.ts";
import type { Extras } from "./extras.ts";
import type { MessagesOptions } from "./options.ts";
import type { Extra } from "./params.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Tool } from "./tools.ts";
import type { Using } from "./use-tools.ts";

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
  extras: Extras;
}

export type Played = Pick<TurnEnd, "outcome" | "finalText" | "call" | "messageId" | "contextTokens" | "answer">;

/** What comes next: another request, or the end. */
export type Next = "on" | TurnOutcome;

/** Of a turn that was told to end; why stands elsewhere. */
export const OVER: TurnOutcome = { is: "cut", reason: "the turn was ended" };

export interface Course {
  end: Omit<Played, "outcome">;
  /** The model that was asked last. */
  asked: string;
  /** The other model has taken over. */
  fallen: boolean;
  /** What was left out since a request of the turn was refused, to see whether it is taken without. */
  leftOut: Extra[];
  /** The container was made anew. */
  rebuilt: boolean;
  /** Answers that did not fit the form that is asked for. */
  misfits: number;
  /** Answers that were too long. */
  tooLong: number;
  /** Times that the provider paused the turn. */
  pauses: number;
  /** Of an answer that was too long, its text so far. */
  carried: string;
  executions: ExecutionReader;
}

export const newCourse = (): Course => ({
  end: { finalText: "", call: null, messageId: null, contextTokens: null },
  asked: "",
  fallen: false,
  leftOut: [],
  rebuilt: false,
  misfits: 0,
  tooLong: 0,
  pauses: 0,
  carried: "",
  executions: executionReader(),
});

/** On disk before it is part of a request. */
export function tellModel(content: Block[], { turn, transcript, said }: Playing): void {
  transcript.write({ is: "user", turn, content });
  said.push({ role: "user", content });
}

/** Blocks for a container that is yet to be made; none while there is one. */
export async function uploadsFor({ sandbox, signal }: Playing): Promise<Block[]> {
  return sandbox === undefined || sandbox.container() !== undefined ? [] : await sandbox.uploads(signal);
}

const NEW_CONTAINER = "The container is a new one: the files are there again, everything else in it is gone.";

/** Once a turn, the model goes on in another container. True: it is told. */
export async function isRebuilt({ playing, course }: { playing: Playing; course: Course }): Promise<boolean> {
  const { sandbox, tell } = playing;
  if (sandbox === undefined || course.rebuilt) return false;
  course.rebuilt = true;
  sandbox.lost();
  tell({ type: "notice", text: "the container is gone; a new one is made" });
  tellModel([textBlock(NEW_CONTAINER), ...(await uploadsFor(playing))], playing);
  return true;
}

/** Another model may do what this one cannot now, or does not want to. True: it is asked from here on. */
export function fallBack(why: string, { playing, course }: { playing: Playing; course: Course }): boolean {
  const { fallbackModel } = playing.request.agent;
  if (course.fallen || fallbackModel === undefined || fallbackModel === playing.model()) return false;
  course.fallen = true;
  playing.tell({ type: "notice", text: `${why}: on with ${fallbackModel}` });
  return true;
}
