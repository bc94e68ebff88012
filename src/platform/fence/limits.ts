/** What a fenced process and everything below it may use, as limits of the kernel's own. */
export interface FenceLimits {
  /**
   * Bytes of all processes together where control groups can be had; else writable private memory of each one, address
   * space that is only reserved does not count.
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
 * Before the command, inside. Where a control group holds memory and processes, what meets that limit can be told;
 * a limit on each process would only make its programs fail. Core files are none: they would land in the workspace.
 */
export function limitWords(
  { memoryBytes, processes, fileBytes }: FenceLimits,
  { grouped }: { grouped: boolean },
): string[] {
  const single = grouped ? {} : { data: memoryBytes, nproc: processes };
  const words = { ...single, fsize: fileBytes, core: 0 };
  return [...Object.entries(words).map(([name, limit]) => `--${name}=${limit}:${limit}`), "--"];
}
