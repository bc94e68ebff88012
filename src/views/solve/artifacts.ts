/** What a run that solves leaves for its user: the files it made, the answer, the transcript, the final program. */
import { copyFileSync, existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { plainFiles } from "../../compose/code-room.ts";
import { UsageError } from "../../errors.ts";
import { ANSWER_JSON } from "../../loop/solve-answer.ts";
import { solveOf } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import type { Blobs } from "../../ports.ts";
import type { SolveAnswer } from "./answer.ts";
import { planYaml, transcript } from "./transcript.ts";

const TRANSCRIPT = "transcript.md";
const PLAN = "plan.yaml";

export interface Wanted {
  /** A folder. */
  out: string | undefined;
  /** A file. */
  save: string | undefined;
}

/** Before anything is spent: they must be places that can be written to. */
export function refusePlaces({ out, save }: Wanted): void {
  if (out !== undefined && existsSync(out) && !statSync(out).isDirectory())
    throw new UsageError(`--out ${out}: it is a file`, { hint: "name a folder; it is made where there is none" });
  if (save === undefined) return;
  if (existsSync(save) && statSync(save).isDirectory())
    throw new UsageError(`--save ${save}: it is a directory`, { hint: "name a file, such as solution.py" });
  if (!existsSync(dirname(resolve(save))))
    throw new UsageError(`--save ${save}: there is no folder ${dirname(save)}`, { hint: "make it first" });
}

/** What was written, in words. */
export async function writeArtifacts(
  state: RunState,
  { out, save, blobs, answer }: Wanted & { blobs: Blobs; answer: SolveAnswer },
): Promise<string[]> {
  const told: string[] = [];
  if (save !== undefined && answer.code === null)
    told.push(`${save} is not written: no program stands behind the answer`);
  if (save !== undefined && answer.code !== null) {
    writeFileSync(save, `${answer.code.text.trimEnd()}\n`);
    told.push(`${save}: the final program (${answer.code.language})`);
  }
  if (out === undefined) return told;
  mkdirSync(out, { recursive: true });
  const given = new Set(state.spec.solve?.files.map(({ path }) => path) ?? []);
  const { path: workspace } = state.spec.workspace;
  const made = existsSync(workspace) ? plainFiles(workspace).filter((path) => isResult(workspace, path, given)) : [];
  for (const path of made) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    copyFileSync(join(workspace, path), join(out, path));
  }
  writeFileSync(join(out, TRANSCRIPT), await transcript(state, { blobs, answer }));
  const { plan } = solveOf(state);
  if (plan !== undefined) writeFileSync(join(out, PLAN), planYaml(plan));
  return [...told, `${out}: ${made.length} files and ${TRANSCRIPT}`];
}

/** Neither what was given, nor its copies for steps, nor pawl's own. */
function isResult(workspace: string, path: string, given: ReadonlySet<string>): boolean {
  if (path.startsWith(".git/") || path === ".git") return false;
  const inStep = /^steps\/[^/]+\/(.+)$/.exec(path)?.[1];
  if (given.has(inStep ?? path)) return false;
  return path !== ANSWER_JSON || lstatSync(join(workspace, path)).size > 0;
}
