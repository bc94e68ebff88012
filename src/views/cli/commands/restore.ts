/** `pawl restore`: puts a snapshot or salvaged work back into the workspace, or on a branch of its own. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import { MAIN_LANE, mainLane } from "../../../loop/state.ts";
import { currentOwner } from "../../../platform/owner.ts";
import type { RunRow } from "../../../ports.ts";
import { lockWorkspace } from "../../../workspace/lock.ts";
import { listSnapshots, NAMED, restoreRun, type At, type Kept } from "../../../workspace/runs.ts";
import { columns, counted } from "../format.ts";
import { note, print } from "../output.ts";
import { readRun, withRun, type Read } from "../reading.ts";

interface Options {
  at?: string;
  branch?: string;
  list?: boolean;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("--at <where>", "a snapshot's number, salvage/NAME, protected/NAME or lost/NAME")
    .option("--branch <name>", "make this branch at it instead; no file changes")
    .option("--list", "what can be put back")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, { at, branch, list = false }: Options) => {
      await withRun(asked, async (opened) => {
        const read = await readRun(opened);
        if (list) print(columns((await listSnapshots(placeOf(read))).map((kept) => cells(kept, read))));
        else await restore(read, { at: whereOf(at), branch });
      });
      exit(EXIT.ok);
    });
}

function placeOf({ folded, row, state }: Read) {
  return { spec: folded.spec.workspace, run: row.run, lane: MAIN_LANE, stateDir: state.dir };
}

function whereOf(text: string | undefined): At {
  if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text);
  if (text !== undefined && isNamed(text)) return text;
  throw new UsageError(text === undefined ? "where to? --at is missing" : `--at cannot be ${JSON.stringify(text)}`, {
    hint: "--at 3 or --at salvage/0; `pawl restore --list` shows what there is",
  });
}

function isNamed(text: string): text is Exclude<At, number> {
  const [kind = "", name = "", ...more] = text.split("/");
  return NAMED.some((one) => one === kind) && more.length === 0 && /^[\w.-]+$/.test(name) && !name.includes("..");
}

async function restore(read: Read, { at, branch }: { at: At; branch: string | undefined }): Promise<void> {
  refuseDriven(read.row);
  const place = placeOf(read);
  const lock = lockWorkspace({ path: place.spec.path, stateDir: place.stateDir, owner: currentOwner() });
  try {
    const done = await restoreRun({ ...place, at, ...(branch === undefined ? {} : { branch }) });
    if (done.alone === true)
      note("the run's base is not in this repository any more: the branch has no history before it");
    if (done.branch !== undefined) return print(`branch ${done.branch} is at ${at} of ${read.row.run}`);
    print(`${place.spec.path} is as it was at ${at}`);
    const name = done.salvage?.startsWith("salvage/") === true ? done.salvage : `salvage/${done.salvage}`;
    if (done.salvage !== undefined) note(`what was there is kept: pawl restore ${read.row.run} --at ${name}`);
  } finally {
    lock.release();
  }
}

function refuseDriven({ run, owner }: RunRow): void {
  if (owner === undefined) return;
  throw new UsageError(`run ${run} is driven by process ${owner.pid} on ${owner.host}`, {
    hint: `stop it first: pawl stop ${run} --now --wait`,
  });
}

function cells({ at, tree }: Kept, { facts, folded }: Read): string[] {
  const { track, head } = mainLane(folded);
  const { bestWork: best, setAside } = track;
  const change = facts.find((fact) => fact.type === "change-recorded" && fact.snapshot === at);
  if (change?.type !== "change-recorded")
    return [String(at), tree, setAside?.salvage === at ? `the last state, after iteration ${setAside.iteration}` : ""];
  const whose =
    change.by === "agent" ? `after iteration ${change.iteration}` : `before iteration ${change.iteration + 1}`;
  const marks = [
    ...(best?.snapshot === at ? [`the best so far, ${counted(best.failing, "failure")}`] : []),
    ...(head?.snapshot === at ? ["what is there now"] : []),
  ];
  return [String(at), tree, [whose, ...marks].join(", ")];
}

const EXAMPLES = `
What is in the workspace first becomes a salvage, so nothing is lost. Refused
while the run is driven.

Examples:
  pawl restore --list
  pawl restore r-20261115-k3f --at 3
  pawl restore --at salvage/0 --branch rescued
  pawl restore --at protected/2 --branch their-tests
`;
