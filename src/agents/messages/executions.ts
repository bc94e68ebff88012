/** Code that the model ran in its provider's sandbox: from the blocks of the API to what pawl knows of any execution. */
import type { Execution, ExecutionEnd, Language, Printed } from "../../ports/executor.ts";
import { fieldText, type Block } from "./blocks.ts";
import { lookUp } from "../../platform/look-up.ts";

export interface Ran {
  language: Language;
  code: string;
  /** Without its files, which have yet to be asked for. */
  execution: Execution;
  fileIds: string[];
  /** The container is not there any more. */
  gone: boolean;
}

export interface ExecutionReader {
  /** The next answer of the turn; `doneAt` of each block, monotonic ms. */
  take(answer: { blocks: readonly Block[]; doneAt: readonly number[] }): Ran[];
}

/** Of what it printed, first and last part each. */
const PART_CHARS = 32_768;
const RESULTS: ReadonlySet<string> = new Set(["code_execution_tool_result", "bash_code_execution_tool_result"]);
const LANGUAGES: Readonly<Record<string, Language>> = {
  python: "python",
  python3: "python",
  node: "javascript",
  bash: "shell",
  sh: "shell",
};
/** A command that only runs one file. */
const RUNS_FILE = /^(?:cd \S+ && )?(python3?|node|bash|sh) (\S+)$/;
const SIGNAL_CODES: Readonly<Record<number, string>> = { 137: "SIGKILL", 139: "SIGSEGV", 134: "SIGABRT" };

/** Calls and files are remembered: a turn that paused gives the result in its next answer. */
export function executionReader(): ExecutionReader {
  const calls = new Map<string, { call: Block; at: number }>();
  const files = new Map<string, string>();

  function codeOf(call: Block): { language: Language; code: string } {
    const input = fieldsOf(call["input"]);
    if (call["name"] === "code_execution") return { language: "python", code: input("code") };
    const command = input("command");
    const [, program = "", path = ""] = RUNS_FILE.exec(command.trim()) ?? [];
    const known = [...files].find(([name]) => name === path || name.endsWith(`/${path}`));
    const language = lookUp(LANGUAGES, program);
    return known === undefined || language === undefined
      ? { language: "shell", code: command }
      : { language, code: known[1] };
  }

  function edited(call: Block): void {
    const input = fieldsOf(call["input"]);
    const path = input("path");
    if (input("command") === "create") files.set(path, input("file_text"));
    const before = files.get(path);
    if (input("command") === "str_replace" && before !== undefined)
      files.set(
        path,
        before.replace(input("old_str"), () => input("new_str")),
      );
  }

  function ran(result: Block, doneAt: number): Ran[] {
    const asked = calls.get(fieldText(result, "tool_use_id"));
    if (asked === undefined || !RESULTS.has(result.type)) return [];
    const durationMs = Math.max(0, Math.round(doneAt - asked.at));
    return [{ ...codeOf(asked.call), ...outcomeOf(result["content"], durationMs) }];
  }

  return {
    take: ({ blocks, doneAt }) =>
      blocks.flatMap((block, n) => {
        const at = doneAt[n] ?? 0;
        if (block.type !== "server_tool_use") return ran(block, at);
        calls.set(fieldText(block, "id"), { call: block, at });
        if (block["name"] === "text_editor_code_execution") edited(block);
        return [];
      }),
  };
}

type Outcome = Pick<Ran, "execution" | "fileIds" | "gone">;

function outcomeOf(content: unknown, durationMs: number): Outcome {
  const fields = fieldsOf(content);
  const given = (typeof content === "object" && content !== null ? content : {}) as Readonly<Record<string, unknown>>;
  const error = fields("error_code");
  const done = (end: ExecutionEnd, stdout = "", stderr = ""): Execution => ({
    end,
    stdout: printed(stdout),
    stderr: printed(stderr),
    files: [],
    durationMs,
  });
  if (error !== "")
    return { execution: done(endOfError(error, durationMs)), fileIds: [], gone: error === "container_expired" };
  const made = Array.isArray(given["content"]) ? (given["content"] as Block[]) : [];
  const code = Number(given["return_code"] ?? 0);
  const signal = SIGNAL_CODES[code];
  const end: ExecutionEnd = signal === undefined ? { is: "exit", code } : { is: "signal", signal };
  const stdout = given["encrypted_stdout"] === undefined ? fields("stdout") : "(printed for the model alone)";
  const fileIds = made.map((file) => fieldText(file, "file_id")).filter((id) => id !== "");
  return { execution: done(end, stdout, fields("stderr")), fileIds, gone: false };
}

function endOfError(code: string, afterMs: number): ExecutionEnd {
  switch (code) {
    case "execution_time_exceeded":
      return { is: "timeout", afterMs };
    case "output_file_too_large":
      return { is: "limit", which: "disk", message: "a file that it made is too large for the sandbox" };
    case "container_expired":
      return { is: "unavailable", reason: "the container has expired" };
    case "too_many_requests":
      return { is: "unavailable", reason: "the sandbox is asked too often" };
    default:
      return { is: "unavailable", reason: `the sandbox says ${code}` };
  }
}

function printed(text: string): Printed {
  const bytes = Buffer.byteLength(text);
  if (text.length <= 2 * PART_CHARS) return { text, bytes };
  const left = text.length - 2 * PART_CHARS;
  return {
    text: `${text.slice(0, PART_CHARS)}\n… ${left} characters …\n${text.slice(-PART_CHARS)}`,
    bytes,
    isCut: true,
  };
}

function fieldsOf(value: unknown): (name: string) => string {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  return (name) => (typeof fields[name] === "string" ? fields[name] : "");
}
