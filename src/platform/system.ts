/** Where pawl runs. On Windows only inside WSL: no other place there has process groups, private namespaces and durable renames. */

interface Refused {
  what: string;
  hint: string;
}

/** undefined: here. */
export function refusedSystem(platform: string = process.platform): Refused | undefined {
  if (platform !== "win32") return undefined;
  return {
    what: "on Windows it runs inside WSL only",
    hint: "wsl --install, then install Node and pawl in its shell, and keep the repository there, not below /mnt/c",
  };
}
