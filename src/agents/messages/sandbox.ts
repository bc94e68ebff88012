/**
 * The provider's sandbox of a home: the container that is gone on with, whatever session it was begun in, and the files
 * that were uploaded for it. Kept on disk, so that a run that is driven again goes on with both.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { writeDurably } from "../../platform/files.ts";
import { openPlain } from "../plain-file.ts";
import type { Block } from "./blocks.ts";
import type { Connection } from "./client.ts";
import type { GivenFile } from "./options.ts";
import type { Container } from "./stream.ts";
import { ownFolder, sandboxFile } from "./transcript.ts";

const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;
const MAX_DOWNLOAD_BYTES = 32 * 1024 * 1024;
/** One that ends while a request is on its way would be refused. */
const EXPIRY_MARGIN_MS = 10_000;
const MAX_NAME_CHARS = 200;

interface Kept {
  container?: Container | undefined;
  /** The API's ids, by the hash of what was uploaded. */
  uploads: Record<string, string>;
  /** Ids that the API does not know any more, with what is in their place. */
  renamed: Record<string, string>;
}

export interface Produced {
  name: string;
  bytes: Buffer;
}

export interface Sandbox {
  /** The id to go on with; undefined: a new one will be made. */
  container(): string | undefined;
  /** Blocks that put the files into a new container. Throws what the API or the files say no with. */
  uploads(signal: AbortSignal): Promise<Block[]>;
  /** What an answer said of it. */
  used(container: Container): void;
  /** It is gone; what was uploaded is still there. */
  lost(): void;
  /** The API knows the files no more: they are uploaded again. */
  reload(signal: AbortSignal): Promise<void>;
  /** A block as it is to be sent now. */
  current(block: Block): Block;
  /** Throws when it cannot be had, or is too large. */
  download(fileId: string, signal: AbortSignal): Promise<Produced>;
}

interface Opened {
  home: string;
  files: readonly GivenFile[];
  connection: Connection;
}

export function openSandbox({ home, files, connection: { client, sdk } }: Opened): Sandbox {
  const kept = readKept(home);
  const keep = (): void => {
    ownFolder(home);
    writeDurably(sandboxFile(home), JSON.stringify(kept));
  };

  async function upload(file: GivenFile, signal: AbortSignal): Promise<string> {
    const known = kept.uploads[file.sha256];
    if (known !== undefined) return known;
    const sent = await client.files.upload({ file: await sdk.toFile(bytesOf(file), file.name) }, { signal });
    kept.uploads[file.sha256] = sent.id;
    keep();
    return sent.id;
  }

  return {
    container() {
      const { container } = kept;
      return container !== undefined && container.expiresAt - EXPIRY_MARGIN_MS > Date.now() ? container.id : undefined;
    },
    async uploads(signal) {
      const ids = [];
      for (const file of files) ids.push(await upload(file, signal));
      return ids.map((id) => ({ type: "container_upload", file_id: id }));
    },
    used(container) {
      kept.container = container;
      keep();
    },
    lost() {
      kept.container = undefined;
      keep();
    },
    async reload(signal) {
      const before = { ...kept.uploads };
      kept.uploads = {};
      for (const file of files) {
        const old = before[file.sha256];
        const id = await upload(file, signal);
        if (old !== undefined) kept.renamed[old] = id;
      }
      keep();
    },
    current(block) {
      if (block.type !== "container_upload") return block;
      let id = String(block["file_id"]);
      // Tools could write a circle into it.
      for (const _ of Object.keys(kept.renamed)) id = kept.renamed[id] ?? id;
      return { ...block, file_id: id };
    },
    async download(fileId, signal) {
      const { filename, size_bytes: size } = await client.files.retrieveMetadata(fileId, null, { signal });
      if (size > MAX_DOWNLOAD_BYTES) throw new Error(`${filename} is too large: ${size} bytes`);
      const answer = await client.files.download(fileId, null, { signal });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (bytes.length > MAX_DOWNLOAD_BYTES) throw new Error(`${filename} is too large: ${bytes.length} bytes`);
      return { name: plainName(filename), bytes };
    },
  };
}

/** As it was when the run began. Throws. */
function bytesOf({ path, sha256, name }: GivenFile): Buffer {
  const { size } = statSync(path);
  if (size > MAX_UPLOAD_BYTES) throw new Error(`${name} is too large to be uploaded: ${size} bytes`);
  const bytes = readFileSync(path);
  if (createHash("sha256").update(bytes).digest("hex") !== sha256)
    throw new Error(`${name} is not what it was when the run began`);
  return bytes;
}

/** Its last part alone; nothing that leads elsewhere or hides. */
function plainName(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replaceAll(/[\p{Cc}\p{Cf}]/gu, "_").replace(/^\.+/, "");
  return plain.slice(-MAX_NAME_CHARS) || "unnamed";
}

function readKept(home: string): Kept {
  const nothing: Kept = { uploads: {}, renamed: {} };
  const file = openPlain(sandboxFile(home));
  if (file === undefined) return nothing;
  try {
    const { container, uploads, renamed } = JSON.parse(readFileSync(file, "utf8")) as Partial<Kept>;
    return { container, uploads: { ...uploads }, renamed: { ...renamed } };
  } catch {
    return nothing;
  }
}
