/** The goal of a run: from the command line, a file, or stdin. */
import { readFileSync } from "node:fs";
import { UsageError } from "../../errors.ts";

/** What a prompt can carry whole; details belong into a file of the repository. */
const MAX_GOAL_BYTES = 32 * 1024;
const HINT = 'for example: pawl run "make the tests pass" --check "npm test"';

interface Given {
  argument: string | undefined;
  file: string | undefined;
}

export async function readGoal({ argument, file }: Given): Promise<string> {
  if (argument !== undefined && file !== undefined) {
    throw new UsageError("the goal is given twice: as an argument and as a file", { hint: "leave one out" });
  }
  if (argument === undefined && file === undefined) throw new UsageError("a run needs a goal", { hint: HINT });
  const text = argument === "-" ? await readStdin() : (argument ?? readText(file ?? ""));
  const goal = text.trim();
  if (goal === "") throw new UsageError("the goal is empty", { hint: HINT });
  const bytes = Buffer.byteLength(goal);
  if (bytes <= MAX_GOAL_BYTES) return goal;
  throw new UsageError(`the goal has ${bytes} bytes, at most ${MAX_GOAL_BYTES} fit into a prompt`, {
    hint: "put the details into a file of the repository and name it in the goal",
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`the goal cannot be read: ${(cause as Error).message}`, { cause });
  }
}

async function readStdin(): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > MAX_GOAL_BYTES * 2) break;
  }
  return text;
}
