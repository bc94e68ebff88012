/**
 * A place in pawl's state for work that is no run: checks that a person asks for. It has a name like a run's, so that the
 * fence and the private repository serve it as they serve a run, but no journal, and nothing of it is left afterwards;
 * what a killed one left is removed by the next.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment, State } from "../compose.ts";
import { makeBlobs } from "../journal/blobs.ts";
import { openJournal } from "../journal/open.ts";
import { makeRedact } from "../journal/redact.ts";
import type { Attempt } from "../platform/egress.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import { currentOwner, isAlive } from "../platform/owner.ts";
import { runDir, stateDir } from "../platform/paths.ts";
import { sweep } from "../platform/sweep.ts";
import type { Owner } from "../ports.ts";
import { forgetWork } from "../workspace/forget.ts";
import { removeFolder } from "./fence-scratch.ts";

const PREFIX = "apart-";
const ID_BYTES = 6;
const NOTE = "apart.json";

interface Note {
  owner: Owner;
  repository: string;
}

export interface Apart {
  /** As the name of a run. */
  readonly run: string;
  /** Writes neither facts nor trace; its blobs are gone with it. */
  readonly state: State;
  /** Tries to reach the network, as the fence saw them. */
  readonly attempts: readonly Attempt[];
  /** Afterwards no process and no file of it is left. */
  close(): Promise<void>;
}

export async function openApart(env: Environment, { repository }: { repository: string }): Promise<Apart> {
  const dir = stateDir(env);
  await removeDead(dir);
  const run = `${PREFIX}${randomBytes(ID_BYTES).toString("hex")}`;
  const folder = runDir(dir, run);
  makePrivateDir(folder);
  const note: Note = { owner: currentOwner(), repository };
  writeDurably(join(folder, NOTE), JSON.stringify(note));
  const redact = makeRedact({ environment: env });
  const opened = openJournal({ dir, redact, isAlive });
  const attempts: Attempt[] = [];
  const state: State = {
    dir,
    redact,
    ...opened,
    blobs: makeBlobs({ dir: join(folder, "blobs"), redact }),
    trace: { ...opened.trace, write: (_run, { data }) => void attempts.push(data as Attempt) },
  };
  return {
    run,
    state,
    attempts,
    async close() {
      opened.close();
      await forget(dir, { run, repository });
    },
  };
}

async function removeDead(dir: string): Promise<void> {
  const runs = join(dir, "runs");
  const names = existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith(PREFIX)) : [];
  for (const run of names) {
    const note = readNote(join(runs, run, NOTE));
    if (note !== undefined && !isAlive(note.owner)) await forget(dir, { run, repository: note.repository });
  }
}

/** Undefined where another one is just being made, or removed. */
function readNote(path: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Note;
  } catch {
    return undefined;
  }
}

/** The note goes last: what is cut off in between is finished by the next. */
async function forget(dir: string, { run, repository }: { run: string; repository: string }): Promise<void> {
  await sweep(run);
  await forgetWork({ stateDir: dir, repository, run });
  const folder = runDir(dir, run);
  const others = existsSync(folder) ? readdirSync(folder).filter((name) => name !== NOTE) : [];
  for (const name of others) await removeFolder(join(folder, name));
  await removeFolder(folder);
}
