/** The tools that the model gets: files, search and shell of the workspace, the done call, a question to a person. */
import { DEFINITION, TOOL as DONE } from "../done-call.ts";

export interface Tool {
  name: string;
  description: string;
  input_schema: object;
}

const text = (description: string): object => ({ type: "string", description });
const number = (description: string): object => ({ type: "integer", description });
const flag = (description: string): object => ({ type: "boolean", description });

interface About {
  about: string;
  fields: Readonly<Record<string, object>>;
  required?: string[];
}

function tool(name: string, { about, fields, required = [] }: About): Tool {
  return { name, description: about, input_schema: { type: "object", properties: fields, required } };
}

const PATH = text("in the workspace, relative to it or absolute");
const GLOB = text("only files like this: *.ts, src/**/*.py");

/** Done by the process inside the fence. They are in every request, so they are short. */
const HAND_TOOLS: readonly Tool[] = [
  tool("Read", {
    about: "Reads a text file, with line numbers.",
    fields: { file_path: PATH, offset: number("first line, from 1"), limit: number("lines") },
    required: ["file_path"],
  }),
  tool("Write", {
    about: "Makes or replaces a file.",
    fields: { file_path: PATH, content: text("all of it") },
    required: ["file_path", "content"],
  }),
  tool("Edit", {
    about: "Replaces a text in a file. The text must be there exactly once, unless replace_all.",
    fields: {
      file_path: PATH,
      old_string: text("as it is"),
      new_string: text("as it shall be"),
      replace_all: flag("all of them"),
    },
    required: ["file_path", "old_string", "new_string"],
  }),
  tool("List", { about: "Lists files below a folder.", fields: { path: PATH, glob: GLOB } }),
  tool("Search", {
    about: "Finds lines that match a regular expression of JavaScript.",
    fields: {
      pattern: text("the expression"),
      path: PATH,
      glob: GLOB,
      ignore_case: flag("letter case makes no difference"),
    },
    required: ["pattern"],
  }),
  tool("Bash", {
    about: "Runs a command in the workspace and gives what it prints. Nothing of it runs on afterwards.",
    fields: { command: text("for bash"), timeout_ms: number("at most 600000; 120000 otherwise") },
    required: ["command"],
  }),
];

export const TOOL_NAMES: readonly string[] = HAND_TOOLS.map(({ name }) => name);
/** Needs a permission: the others only touch what can be undone. */
export const SHELL = "Bash";
export const QUESTION = "AskUser";
export const DONE_TOOL: Tool = {
  name: DONE,
  description: DEFINITION.description,
  input_schema: DEFINITION.inputSchema,
};
export const QUESTION_TOOL = tool(QUESTION, {
  about: "Asks the person whose goal this is, and waits for the answer. Only for what you cannot decide yourself.",
  fields: {
    question: text("one question"),
    options: { type: "array", items: { type: "string" }, description: "ways to go" },
  },
  required: ["question"],
});

const DEFAULT_COMMAND_MS = 120_000;
const MAX_COMMAND_MS = 600_000;

export const handTools = (names: readonly string[]): Tool[] => HAND_TOOLS.filter(({ name }) => names.includes(name));

/** What a call means for the hands. */
export function handInput(name: string, input: unknown): Readonly<Record<string, unknown>> {
  const fields = typeof input === "object" && input !== null ? { ...input } : {};
  if (name !== SHELL) return fields;
  const { timeout_ms: asked } = fields as { timeout_ms?: unknown };
  const limitMs = typeof asked === "number" && asked > 0 ? Math.min(asked, MAX_COMMAND_MS) : DEFAULT_COMMAND_MS;
  return { ...fields, limitMs };
}
