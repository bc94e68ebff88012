/** `/v1/files`: upload, list, metadata, content, delete; in the form of the real Files API. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBytes } from "./body.ts";
import type { FileStore } from "./file-store.ts";
import { MAX_FILE_BYTES, metadataOf } from "./file-store.ts";
import { messagesProtocol } from "./messages.ts";
import { refuse, sendJson } from "./respond.ts";

/** Beside the file itself, of an upload. */
const FORM_BYTES = 64 * 1024;
const PATH = /^\/v1\/files(?:\/([^/]+)(\/content)?)?$/;

export const isFilesPath = (path: string): boolean => PATH.test(path);

export async function handleFiles(
  request: IncomingMessage,
  response: ServerResponse,
  { files, path }: { files: FileStore; path: string },
): Promise<void> {
  const [, id, content] = PATH.exec(path) ?? [];
  const no = (status: number, message: string): void => refuse(response, messagesProtocol, { status, message });
  if (id === undefined) {
    if (request.method === "POST") return await upload(request, response, files);
    if (request.method === "GET") return list(request, response, files);
    return no(405, `${request.method} ${path} is not known here`);
  }
  const file = files.get(id);
  if (file === undefined) return no(404, `File not found: ${id}`);
  if (request.method === "DELETE") {
    files.remove(id);
    return sendJson(response, { id, type: "file_deleted" });
  }
  if (request.method !== "GET") return no(405, `${request.method} ${path} is not known here`);
  if (content === undefined) return sendJson(response, metadataOf(file));
  if (!file.downloadable) return no(400, `File ${id} is not downloadable`);
  response.writeHead(200, { "content-type": file.mimeType, "content-length": file.bytes.length });
  response.end(file.bytes);
}

function list(request: IncomingMessage, response: ServerResponse, files: FileStore): void {
  const { searchParams } = new URL(request.url ?? "/", "http://localhost");
  const ids = [...searchParams.getAll("ids"), ...searchParams.getAll("ids[]")];
  const found = files.all().filter(({ id }) => ids.length === 0 || ids.includes(id));
  const data = found.map(metadataOf);
  sendJson(response, { data, next_page: null, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id });
}

async function upload(request: IncomingMessage, response: ServerResponse, files: FileStore): Promise<void> {
  const body = await readBytes(request, MAX_FILE_BYTES + FORM_BYTES);
  if (body.is === "gone") return;
  const no = (status: number, message: string): void => refuse(response, messagesProtocol, { status, message });
  if (body.is !== "bytes") return no(413, "Request exceeds the maximum size");
  const file = await fileIn(body.bytes, request.headers["content-type"] ?? "");
  if (file === undefined) return no(400, "file: Field required, as multipart/form-data");
  const stored = files.add({ ...file, downloadable: false });
  if (stored === undefined) return no(400, "The organization's file storage quota is exhausted");
  return sendJson(response, metadataOf(stored));
}

async function fileIn(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
): Promise<{ filename: string; mimeType: string; bytes: Uint8Array } | undefined> {
  try {
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    const file = form.get("file");
    if (!(file instanceof File)) return undefined;
    const filename = file.name.split(/[/\\]/).at(-1) || "unnamed";
    return { filename, mimeType: file.type || "application/octet-stream", bytes: await file.bytes() };
  } catch {
    return undefined;
  }
}
