/** The goal of a run: from the command line, a file, or stdin. */
import { statSync } from "node:fs";
import { UsageError } from "../../errors.ts";
import { readTextFile, readTextStdin } from "../../platform/text-file.ts";

/** What a prompt can carry whole; details belong into a file of the repository. */
const MAX_GOAL_BYTES = 32 * 1024;
const HINT = 'for example: pawl run "make the tests pass" --check "npm test"';
const ABOUT = { what: "the goal", maxBytes: MAX_GOAL_BYTES };
/** A word that can only be meant as the file. */
const TEXT_FILE = /^\S+\.(?:md|markdown|txt)$/i;

interface Given {
  argument: string | undefined;
  file: string | undefined;
}

interface Goal {
  goal: string;
  goalFile?: string;
}

export async function readGoal({ argument, file }: Given): Promise<Goal> {
  if (argument !== undefined && file !== undefined) {
    throw new UsageError("the goal is given twice: as an argument and as a file", { hint: "leave one out" });
  }
  if (argument === undefined && file === undefined) throw new UsageError("a run needs a goal", { hint: HINT });
  if (argument === "-" || file === "-") return { goal: (await readTextStdin(ABOUT)).trim() };
  const path = file ?? meantFile(argument ?? "");
  if (path !== undefined) return { goal: readTextFile(path, ABOUT).trim(), goalFile: path };
  const goal = (argument ?? "").trim();
  if (goal === "") throw new UsageError("the goal is empty", { hint: HINT });
  const bytes = Buffer.byteLength(goal);
  if (bytes <= MAX_GOAL_BYTES) return { goal };
  throw new UsageError(`the goal has ${bytes} bytes, at most ${MAX_GOAL_BYTES} fit into a prompt`, {
    hint: "put the details into a file of the repository and name it in the goal",
  });
}

/** A text file that is named instead of a goal is read; any other path is no goal. */
function meantFile(argument: string): string | undefined {
  if (TEXT_FILE.test(argument)) return argument;
  const found = /\s/.test(argument) ? undefined : pathLike(argument);
  if (found === undefined) return undefined;
  throw new UsageError(`${argument} is a ${found}, not a goal`, {
    hint: found === "file" ? `pawl run -f ${argument} reads the goal from it` : HINT,
  });
}

function pathLike(argument: string): "file" | "directory" | undefined {
  try {
    return statSync(argument).isDirectory() ? "directory" : "file";
  } catch {
    return undefined;
  }
}
