/** The goal of a run: from the command line, a file, or stdin. */
import { statSync } from "node:fs";
import { UsageError } from "../../errors.ts";
import { readTextFile, readTextStdin } from "../../platform/text-file.ts";

/** What a prompt can carry whole; details belong into a file of the repository. */
const MAX_GOAL_BYTES = 32 * 1024;
/** How a command calls it, and what helps whoever got it wrong. */
export interface GoalWords {
  noun: "goal" | "question";
  example: string;
  /** For one that is too long. */
  elsewhere: string;
}
const OF_RUN: GoalWords = {
  noun: "goal",
  example: 'for example: pawl run "make the tests pass" --check "npm test"',
  elsewhere: "put the details into a file of the repository and name it in the goal",
};
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

export async function readGoal({ argument, file }: Given, words: GoalWords = OF_RUN): Promise<Goal> {
  const { noun, example: hint } = words;
  const about = { what: `the ${noun}`, maxBytes: MAX_GOAL_BYTES };
  if (argument !== undefined && file !== undefined) {
    throw new UsageError(`the ${noun} is given twice: as an argument and as a file`, { hint: "leave one out" });
  }
  if (argument === undefined && file === undefined) throw new UsageError("a run needs a goal", { hint });
  if (argument === "-" || file === "-") return { goal: (await readTextStdin(about)).trim() };
  const path = file ?? meantFile(argument ?? "", words);
  if (path !== undefined) return { goal: readTextFile(path, about).trim(), goalFile: path };
  const goal = (argument ?? "").trim();
  if (goal === "") throw new UsageError(`the ${noun} is empty`, { hint });
  const bytes = Buffer.byteLength(goal);
  if (bytes <= MAX_GOAL_BYTES) return { goal };
  throw new UsageError(`the ${noun} has ${bytes} bytes, at most ${MAX_GOAL_BYTES} fit into a prompt`, {
    hint: words.elsewhere,
  });
}

/** A text file that is named instead of a goal is read; any other path is no goal. */
function meantFile(argument: string, { noun, example }: GoalWords): string | undefined {
  if (TEXT_FILE.test(argument)) return argument;
  const found = /\s/.test(argument) ? undefined : pathLike(argument);
  if (found === undefined) return undefined;
  throw new UsageError(`${argument} is a ${found}, not a ${noun}`, {
    hint: found === "file" && noun === "goal" ? `pawl run -f ${argument} reads the goal from it` : example,
  });
}

function pathLike(argument: string): "file" | "directory" | undefined {
  try {
    return statSync(argument).isDirectory() ? "directory" : "file";
  } catch {
    return undefined;
  }
}
