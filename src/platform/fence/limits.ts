/** What a fenced process and everything below it may use, as limits of the kernel's own. */
export interface FenceLimits {
  /**
   * Bytes of all processes together where control groups can be had; elsewhere of each one: writable private memory.
   */
  memoryBytes: number;
  processes: number;
  /** Of one file. */
  fileBytes: number;
  /** What may be added to the disk; unlimited when left out. */
  diskBytes?: number;
}

export const USUAL_LIMITS: FenceLimits = {
  memoryBytes: 8 * 1024 ** 3,
  processes: 2_048,
  fileBytes: 4 * 1024 ** 3,
};

/**
 * Before the command, inside. Core files are none: they would land in the workspace. Memory only where no control group
 * counts what is really used: sanitizers map terabytes that they never touch.
 */
export function limitWords(
  { memoryBytes, processes, fileBytes }: FenceLimits,
  { memoryIsHeld }: { memoryIsHeld: boolean },
): string[] {
  const words = { nproc: processes, fsize: fileBytes, core: 0, ...(memoryIsHeld ? {} : { data: memoryBytes }) };
  return [...Object.entries(words).map(([name, limit]) => `--${name}=${limit}:${limit}`), "--"];
}
