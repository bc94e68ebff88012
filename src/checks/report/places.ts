/** Paths of a report as paths of the tree. Pure: what a file is called, never whether it is there. */

export interface Places {
  /** Absolute folders that mean the tree: where it lies, and where the command saw it. */
  roots: readonly string[];
}

const MAX_PATH_CHARS = 1_000;

/** With forward slashes; below none of the roots it stays as it is. */
export function relativeTo(path: string, { roots }: Places): string {
  const plain = path
    .slice(0, MAX_PATH_CHARS)
    .replace(/^file:\/\//, "")
    .replaceAll("\\", "/");
  const root = roots.find((folder) => plain === folder || plain.startsWith(`${folder}/`));
  return (root === undefined ? plain : plain.slice(root.length + 1)).replace(/^(?:\.\/)+/, "");
}

/** A path of the tree that people of the project wrote: nothing installed, nothing of the runtime. */
export const isOwn = (path: string): boolean =>
  !path.startsWith("/") &&
  !path.startsWith("../") &&
  !/^(?:node|internal|native|vm|webpack|vite|bun|deno):/.test(path) &&
  !/(?:^|\/)(?:node_modules|site-packages|dist-packages|\.venv|venv|vendor|\.cargo|\.rustup)\//.test(path);
