/**
 * Where the scripted model runs code: containers with an id that clients go on with, and an end. Speaks the blocks of
 * the real server tool; what comes of the code is what the script says, or what it really does.
 */
import type { Execute, ExecuteResult } from "./execute.ts";
import type { FileStore } from "./file-store.ts";
import type { AnswerBlock, Json, Refusal } from "./protocol.ts";
import { isObject, newId, objectsOf, textOf } from "./protocol.ts";
import { openWorkplace, type Workplace } from "./run-code.ts";

const LIFE_MS = 3_600_000;
const MAX_CONTAINERS = 1_000;

export interface Container {
  id: string;
  expiresAtMs: number;
  /** Files that were given to it. */
  uploads: Set<string>;
  workplace: Workplace | undefined;
}

export interface Sandbox {
  readonly files: FileStore;
  /** undefined: a request may go on. */
  refusalOf(body: Json): Refusal | undefined;
  /** Ends the container that a request names; false when it names none that lives. */
  expire(body: Json): boolean;
  /** What the step's code comes to; undefined: the request does not offer the tool. */
  execute(items: readonly Execute[], body: Json): Promise<Executed | undefined>;
  close(): void;
}

export interface Executed {
  blocks: AnswerBlock[];
  container: Container;
}

const nameOf = (body: Json): string => {
  const { container } = body;
  return textOf(isObject(container) ? container["id"] : container);
};

/** `code_execution_…` as the request offers it. */
const toolOf = (body: Json): string | undefined =>
  objectsOf(body["tools"])
    .map((tool) => textOf(tool["type"]))
    .find((type) => type.startsWith("code_execution_"));

const uploadsIn = (body: Json): string[] =>
  objectsOf(body["messages"])
    .flatMap((message) => objectsOf(message["content"]))
    .filter((block) => block["type"] === "container_upload")
    .map((block) => textOf(block["file_id"]));

export function openSandbox(files: FileStore, { runCode }: { runCode: boolean }): Sandbox {
  const containers = new Map<string, Container>();
  const alive = (id: string): Container | undefined => {
    const found = containers.get(id);
    return found !== undefined && found.expiresAtMs > Date.now() ? found : undefined;
  };
  const end = (container: Container): void => {
    container.workplace?.close();
    containers.delete(container.id);
  };

  function entered(body: Json): Container {
    const known = alive(nameOf(body));
    const container = known ?? { id: newId("container_"), expiresAtMs: 0, uploads: new Set(), workplace: undefined };
    container.expiresAtMs = Date.now() + LIFE_MS;
    if (known === undefined) containers.set(container.id, container);
    for (const oldest of containers.values()) if (containers.size > MAX_CONTAINERS) end(oldest);
    for (const id of uploadsIn(body)) container.uploads.add(id);
    return container;
  }

  async function resultOf(item: Execute, container: Container): Promise<ExecuteResult> {
    if (item.run !== true) return item.result ?? {};
    if (!runCode) return { error: "unavailable" };
    container.workplace ??= openWorkplace();
    for (const id of container.uploads) {
      const file = files.get(id);
      if (file !== undefined) container.workplace.put(file.filename, file.bytes);
    }
    const result = await container.workplace.run(item);
    return result;
  }

  return {
    files,
    refusalOf(body) {
      const id = nameOf(body);
      if (id !== "" && alive(id) === undefined) return gone(id);
      const unknown = uploadsIn(body).find((file) => files.get(file) === undefined);
      return unknown === undefined ? undefined : { status: 404, message: `File not found: ${unknown}` };
    },
    expire(body) {
      const container = alive(nameOf(body));
      if (container !== undefined) end(container);
      return container !== undefined;
    },
    async execute(items, body) {
      const tool = toolOf(body);
      if (tool === undefined) return undefined;
      const container = entered(body);
      const blocks: AnswerBlock[] = [];
      for (const item of items)
        blocks.push(...blocksOf(item, { tool, result: await resultOf(item, container), files }));
      return { blocks, container };
    },
    close() {
      for (const container of containers.values()) end(container);
    },
  };
}

export const gone = (id: string): Refusal => ({
  status: 400,
  message: `container: The container ${id} has expired. Send the request without it to get a new one.`,
});

/** Since then Python has a tool of its own again; between it is a file that the shell runs. */
const WITHOUT_PYTHON = "code_execution_20250825";

interface About {
  tool: string;
  result: ExecuteResult;
  files: FileStore;
}

function blocksOf(item: Execute, { tool, result, files }: About): AnswerBlock[] {
  const direct = { caller: { type: "direct" } };
  const call = (name: string, input: Json): { id: string; block: AnswerBlock } => {
    const id = newId("srvtoolu_");
    return { id, block: { type: "server", content: { type: "server_tool_use", id, name, input, ...direct } } };
  };
  const outcome = (id: string, kind: "code_execution" | "bash_code_execution"): AnswerBlock => ({
    type: "server",
    content: { type: `${kind}_tool_result`, tool_use_id: id, content: resultContent(kind, { result, files }) },
  });
  if (item.language === "python" && tool !== WITHOUT_PYTHON) {
    const { id, block } = call("code_execution", { code: item.code });
    return [block, outcome(id, "code_execution")];
  }
  if (item.language === "shell") {
    const { id, block } = call("bash_code_execution", { command: item.code });
    return [block, outcome(id, "bash_code_execution")];
  }
  const path = "/tmp/solution.py";
  const made = call("text_editor_code_execution", { command: "create", path, file_text: item.code });
  const run = call("bash_code_execution", { command: `python3 ${path}` });
  const created = { type: "text_editor_code_execution_create_result", is_file_update: false };
  const answer = { type: "text_editor_code_execution_tool_result", tool_use_id: made.id, content: created };
  return [made.block, { type: "server", content: answer }, run.block, outcome(run.id, "bash_code_execution")];
}

function resultContent(kind: string, { result, files }: Omit<About, "tool">): Json {
  if (result.error !== undefined) return { type: `${kind}_tool_result_error`, error_code: result.error };
  const produced = (result.files ?? []).flatMap(({ path, text, base64 }) => {
    const bytes = base64 === undefined ? Buffer.from(text ?? "") : Buffer.from(base64, "base64");
    const filename = path.split(/[/\\]/).at(-1) || "unnamed";
    const stored = files.add({ filename, mimeType: "application/octet-stream", bytes, downloadable: true });
    return stored === undefined ? [] : [{ type: `${kind}_output`, file_id: stored.id }];
  });
  const { stdout = "", stderr = "", exitCode = 0 } = result;
  return { type: `${kind}_result`, stdout, stderr, return_code: exitCode, content: produced };
}
