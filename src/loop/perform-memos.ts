/** Notes and knowledge of the agent, read around a turn; nothing is read that the spec does not name. */
import { createHash } from "node:crypto";
import type { Workspace } from "../ports.ts";
import type { RunSpec } from "../spec.ts";
import type { Memo, PromptContext } from "./actions.ts";

const HASH_CHARS = 16;

export async function readMemos(
  { notes, knowledge }: RunSpec,
  workspace: Pick<Workspace, "read">,
): Promise<PromptContext> {
  const read = async (file: RunSpec["notes"], { tail }: { tail: boolean }): Promise<Memo | undefined> => {
    if (file === undefined) return undefined;
    const { text, bytes } = (await workspace.read(file.file, file.maxBytes, { tail })) ?? { text: "", bytes: 0 };
    return { text, bytes, hash: createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS) };
  };
  // The newest notes stand at the end of the file; knowledge has what matters most at its head.
  const [noted, known] = await Promise.all([read(notes, { tail: true }), read(knowledge, { tail: false })]);
  return { ...(noted === undefined ? {} : { notes: noted }), ...(known === undefined ? {} : { knowledge: known }) };
}

/** For the fact of a turn's end; nothing where the spec names no file. */
export function hashesOf({ notes, knowledge }: PromptContext): { memos?: Record<string, string> } {
  const known = Object.entries({ notes, knowledge }).flatMap(([name, memo]) =>
    memo === undefined ? [] : [[name, memo.hash] as const],
  );
  return known.length === 0 ? {} : { memos: Object.fromEntries(known) };
}
