/** The Files API's files, in memory and bounded: those that clients upload, and those that code produced. */
import { newId } from "./protocol.ts";

export const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_ALL_BYTES = 512 * 1024 * 1024;

export interface StoredFile {
  id: string;
  filename: string;
  mimeType: string;
  /** ISO 8601. */
  createdAt: string;
  bytes: Uint8Array;
  /** Only what code produced can be had back. */
  downloadable: boolean;
}

export interface FileStore {
  /** undefined: there is no room for it. */
  add(file: Pick<StoredFile, "filename" | "mimeType" | "bytes" | "downloadable">): StoredFile | undefined;
  get(id: string): StoredFile | undefined;
  /** Newest first. */
  all(): StoredFile[];
  remove(id: string): boolean;
}

export function fileStore(): FileStore {
  const files = new Map<string, StoredFile>();
  let held = 0;
  return {
    add(file) {
      if (file.bytes.length > MAX_FILE_BYTES || held + file.bytes.length > MAX_ALL_BYTES) return undefined;
      held += file.bytes.length;
      const stored = { ...file, id: newId("file_"), createdAt: new Date().toISOString() };
      files.set(stored.id, stored);
      return stored;
    },
    get: (id) => files.get(id),
    all: () => [...files.values()].toReversed(),
    remove(id) {
      held -= files.get(id)?.bytes.length ?? 0;
      return files.delete(id);
    },
  };
}

export const metadataOf = ({ id, filename, mimeType, createdAt, bytes, downloadable }: StoredFile) => ({
  id,
  type: "file",
  filename,
  mime_type: mimeType,
  size_bytes: bytes.length,
  created_at: createdAt,
  downloadable,
  expires_at: null,
});
