/** The goal of a run: from the command line, a file, or stdin; beside the first two, stdin is context. */
import { statSync } from "node:fs";
import { UsageError } from "../../errors.ts";
import { readTextFile, readTextStdin } from "../../platform/text-file.ts";
import { awaited, hasInput, readContext } from "./stdin.ts";

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

/** Around the context, and its heading. */
const CONTEXT_ROOM_BYTES = 200;

interface Given {
  /** Words that are the command's own: the goal, `-` behind it for context. */
  words: readonly string[];
  file: string | undefined;
}

interface Goal {
  goal: string;
  goalFile?: string;
  /** What came on stdin beside it, as it stands behind the goal. */
  context?: string;
}

export async function readGoal({ words: given, file }: Given, words: GoalWords = OF_RUN): Promise<Goal> {
  const own = file === undefined ? given.slice(0, 1) : given.filter((word) => word !== "-").slice(0, 1);
  const more = given.slice(own.length);
  const stray = more.filter((word) => word !== "-");
  if (stray.length > 0) {
    throw new UsageError(`too many words: ${JSON.stringify(stray.join(" "))}`, {
      hint: `put the ${words.noun} in quotes: pawl ${words.noun === "goal" ? "run" : "solve"} ${JSON.stringify(given.join(" "))}`,
    });
  }
  const goal = await goalAlone({ argument: own[0], file }, words);
  if (goal.isStdin) return { goal: goal.goal };
  const maxBytes = MAX_GOAL_BYTES - CONTEXT_ROOM_BYTES - Buffer.byteLength(goal.goal);
  const context = await readContext({ isAsked: more.length > 0, maxBytes });
  return { ...goal, ...(context === undefined ? {} : { context }) };
}

/** As the agent is told it. */
export const withContext = (goal: string, context: string | undefined): string =>
  context === undefined ? goal : `${goal}\n\n${context}`;

async function goalAlone(
  { argument, file }: { argument: string | undefined; file: string | undefined },
  words: GoalWords,
): Promise<Goal & { isStdin: boolean }> {
  const { noun, example: hint } = words;
  const about = { what: `the ${noun}`, maxBytes: MAX_GOAL_BYTES };
  const missing = new UsageError(noun === "goal" ? "a run needs a goal" : "pawl solve needs a question", { hint });
  if (argument !== undefined && file !== undefined) {
    throw new UsageError(`the ${noun} is given twice: as an argument and as a file`, { hint: "leave one out" });
  }
  const isMissing = argument === undefined && file === undefined;
  if (isMissing && !hasInput()) throw missing;
  if (isMissing || argument === "-" || file === "-") {
    const text = await awaited(readTextStdin({ ...about, ...(isMissing ? { empty: missing } : {}) }));
    return { goal: text.trim(), isStdin: true };
  }
  const path = file ?? meantFile(argument ?? "", words);
  if (path !== undefined) return { goal: readTextFile(path, about).trim(), goalFile: path, isStdin: false };
  const goal = (argument ?? "").trim();
  if (goal === "") throw new UsageError(`the ${noun} is empty`, { hint });
  const bytes = Buffer.byteLength(goal);
  if (bytes <= MAX_GOAL_BYTES) return { goal, isStdin: false };
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
