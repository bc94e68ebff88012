/**
 * The conversation of another run, up to its end, into the home of a new one, where the agent's own record can be taken
 * along; the new run then goes back in it to the point that is wanted. The other home is only read, and never through a
 * link: its agent could write there.
 */
import { copyFileSync, globSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isAcp } from "../agent-entry.ts";
import { rolloutOf } from "../agents/codex/rollout.ts";
import { keepThread, threadOf } from "../agents/codex/threads.ts";
import { transcriptFile } from "../agents/messages/transcript.ts";
import { databaseFile, keepSession, sessionOf } from "../agents/opencode/home.ts";
import { makePrivateDir } from "../platform/files.ts";
import { plainFileIn } from "../platform/plain-file.ts";
import type { AgentSpec } from "../spec.ts";

interface Taken {
  /** pawl's own name of the conversation. */
  ref: string;
  /** Homes of the agent: of the other run, of the new one. */
  from: string;
  to: string;
  /** The new run's. */
  workspace: string;
  agent: Pick<AgentSpec, "name" | "options">;
}

/** Claude Code names the folder of a directory's conversations after it, up to this many characters. */
const MAX_FOLDER_CHARS = 200;
const NO_RECORD = "its record is not there any more";

/** undefined: it is there. Otherwise why not. */
export async function takeConversation(taken: Taken): Promise<string | undefined> {
  const { name } = taken.agent;
  try {
    if (name === "claude") return claude(taken);
    if (name === "codex") return codex(taken);
    if (name === "opencode") return await opencode(taken);
    if (name === "messages") return messages(taken);
  } catch (error) {
    return `its record cannot be taken along: ${(error as Error).message}`;
  }
  return isAcp(name) ? "the protocol goes on with a conversation only at its end" : `${name} cannot go back in one`;
}

function claude({ ref, from, to, workspace }: Taken): string | undefined {
  const [found = ""] = globSync(`claude/projects/*/${ref}.jsonl`, { cwd: from });
  const kept = plainFileIn(from, join(from, found));
  const folder = workspace.replaceAll(/[^A-Za-z0-9]/g, "-");
  if (kept === undefined) return NO_RECORD;
  if (folder.length > MAX_FOLDER_CHARS) return "the path of the new worktree is too long for Claude Code's records";
  copyInto(join(to, "claude/projects", folder, `${ref}.jsonl`), kept);
  return undefined;
}

function messages({ ref, from, to }: Taken): string | undefined {
  const kept = plainFileIn(from, transcriptFile(from, ref));
  if (kept === undefined) return NO_RECORD;
  copyInto(transcriptFile(to, ref), kept);
  return undefined;
}

function codex({ ref, from, to, agent }: Taken): string | undefined {
  const { extra } = agent.options;
  if (Array.isArray(extra) && extra.includes("--exec")) return "codex exec cannot go back in one";
  const thread = threadOf(from, ref);
  const rollout = thread === undefined ? undefined : rolloutOf(from, thread);
  const kept = rollout === undefined ? undefined : plainFileIn(from, rollout);
  if (thread === undefined || rollout === undefined || kept === undefined) return NO_RECORD;
  copyInto(join(to, relative(from, rollout)), kept);
  keepThread(to, ref, thread);
  return undefined;
}

/** One database for all sessions; a copy of the file alone could be torn. */
async function opencode({ ref, from, to, workspace, agent }: Taken): Promise<string | undefined> {
  if (agent.options["server"] !== undefined) return "a server of yours would go on with it in the other run's folder";
  const session = sessionOf(from, ref);
  const kept = plainFileIn(from, databaseFile(from));
  if (session === undefined || kept === undefined) return NO_RECORD;
  makePrivateDir(dirname(databaseFile(to)));
  const { DatabaseSync } = await import("node:sqlite");
  const theirs = new DatabaseSync(kept, { readOnly: true });
  try {
    theirs.prepare("VACUUM INTO ?").run(databaseFile(to));
  } finally {
    theirs.close();
  }
  const ours = new DatabaseSync(databaseFile(to));
  try {
    // opencode works where a session was begun, wherever its server runs.
    ours.prepare("UPDATE session SET directory = ?, path = NULL").run(workspace);
  } finally {
    ours.close();
  }
  keepSession(to, ref, session);
  return undefined;
}

function copyInto(to: string, from: string): void {
  makePrivateDir(dirname(to));
  copyFileSync(from, to);
}
