/** What a run that solves leaves for its user: the files it made, the answer, the transcript, the final program. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { plainFiles } from "../../compose/code-room.ts";
import { ANSWER_FILE, ANSWER_JSON, isJson, SOLUTION_FILES, solutionFile } from "../../loop/solve-answer.ts";
import { solveOf } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import type { Blobs } from "../../ports.ts";
import type { SolveFile } from "../../spec/solve.ts";
import type { SolveAnswer } from "./answer.ts";
import type { Wanted } from "./places.ts";
import { planYaml, title, transcript } from "./transcript.ts";
import { counted } from "../cli/format.ts";

const TRANSCRIPT = "transcript.md";
const PLAN = "plan.yaml";
/** Not what the code may call so: it could tell another story. */
const OURS: ReadonlySet<string> = new Set([TRANSCRIPT, PLAN]);
/** What a file keeps of its mode: whether it can be run. Never whose rights it has then. */
const PLAIN_MODE = 0o644;
const RUN_MODE = 0o755;
const MAX_NAMED = 5;

/** In words. */
export interface Written {
  written: string[];
  /** What was asked for and is not there. */
  missing: string[];
}

interface About {
  blobs: Blobs;
  answer: SolveAnswer;
}

/** Never throws: whoever waits for the answer gets it, whatever becomes of the files. */
export async function writeArtifacts(state: RunState, { out, save, ...about }: Wanted & About): Promise<Written> {
  const done: Written = { written: [], missing: [] };
  if (save !== undefined) attempt(save, done, () => saveProgram(save, about.answer, done));
  if (out === undefined) return done;
  const told = await transcript(state, about);
  attempt(out, done, () => fill(out, { state, told, answer: about.answer, done }));
  return done;
}

function attempt(what: string, { missing }: Written, write: () => void): void {
  try {
    write();
  } catch (error) {
    missing.push(`${what} could not be written: ${why(error)}`);
  }
}

const why = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === "EEXIST" ? "it is there already" : (error as Error).message;

function saveProgram(save: string, { settled, code }: SolveAnswer, { written, missing }: Written): void {
  if (!settled) return void missing.push(`${save} is not written: there is no answer`);
  if (code === null) return void written.push(`${save} is not written: no program stands behind the answer`);
  writeFileSync(save, `${code.text.trimEnd()}\n`, { flag: "wx" });
  const prints = code.printsAnswer ? "" : "; it printed something else than the answer";
  written.push(`${save}: the final program (${code.language})${prints}`);
}

interface Filling {
  state: RunState;
  told: string;
  answer: SolveAnswer;
  done: Written;
}

/** One after the other: made all at once, a folder in /proc is tried for ever. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

function fill(out: string, { state, told, answer, done }: Filling): void {
  makeFolder(out);
  const { path: workspace } = state.spec.workspace;
  const given = new Map((state.spec.solve?.files ?? []).map((file) => [file.path, file]));
  // What the same run wrote there before it went on is not the user's.
  const isOwn = transcriptIn(out)?.startsWith(`${title(state)}\n`) === true;
  if (isOwn) for (const path of [ANSWER_FILE, ANSWER_JSON, ...SOLUTION_FILES]) rmSync(join(out, path), { force: true });
  const place = (path: string, write: (to: string) => void): boolean => {
    const to = join(out, path);
    if (isOwn) rmSync(to, { force: true });
    try {
      mkdirSync(dirname(to), { recursive: true });
      write(to);
      return true;
    } catch (error) {
      left.push(`${path} (${why(error)})`);
      return false;
    }
  };
  const left: string[] = [];
  const { paths, isWhole } = plainFiles(workspace);
  const results = paths.filter((path) => isResult(workspace, path, given));
  const copied = results.filter((path) =>
    place(OURS.has(path) ? `made-${path}` : path, (to) => copy(join(workspace, path), to)),
  );
  const { settled, text, code } = answer;
  const own: [string, string | undefined][] = [
    [ANSWER_FILE, settled && text !== null ? text : undefined],
    [ANSWER_JSON, settled && text !== null && isJson(text) ? text : undefined],
    ...(code === null ? [] : [[solutionFile(code.language), code.text.trimEnd()] as [string, string]]),
  ];
  for (const [path, words] of own)
    if (words !== undefined && place(path, (to) => writeFileSync(to, `${words}\n`, { flag: "wx" }))) copied.push(path);
  const { plan } = solveOf(state);
  if (plan !== undefined) place(PLAN, (to) => writeFileSync(to, planYaml(plan), { flag: "wx" }));
  // The last: where it is, all is.
  place(TRANSCRIPT, (to) => writeFileSync(to, told, { flag: "wx" }));
  done.written.push(`${out}: ${counted(copied.length, "file")} and ${TRANSCRIPT}`);
  if (!isWhole) done.missing.push(`${out} has not all files: the others are in ${workspace}`);
  if (left.length === 0) return;
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : "";
  done.missing.push(`not written to ${out}: ${left.slice(0, MAX_NAMED).join(", ")}${more}; they are in ${workspace}`);
}

function transcriptIn(out: string): string | undefined {
  const path = join(out, TRANSCRIPT);
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "utf8") : undefined;
}

function copy(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  chmodSync(to, (lstatSync(from).mode & 0o100) === 0 ? PLAIN_MODE : RUN_MODE);
}

/** Neither what was given, nor its copies for steps; nor the answer and the program, which are written as they were judged. */
function isResult(workspace: string, path: string, given: ReadonlyMap<string, SolveFile>): boolean {
  const file = given.get(/^steps\/[^/]+\/(.+)$/.exec(path)?.[1] ?? path);
  if (file !== undefined) return !isSame(join(workspace, path), file);
  return path !== ANSWER_FILE && path !== ANSWER_JSON && !SOLUTION_FILES.includes(path);
}

function isSame(path: string, { bytes, sha256 }: SolveFile): boolean {
  if (lstatSync(path).size !== bytes) return false;
  return createHash("sha256").update(readFileSync(path)).digest("hex") === sha256;
}
