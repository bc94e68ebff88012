/** What a fenced process and everything below it may use, as limits of the kernel's own. */
export interface FenceLimits {
  /**
   * Bytes of all processes together where control groups can be had; elsewhere of each one: writable private memory.
   */
  memoryBytes: number;
  /** Mapped by a process and hardly touched, beside its memory: matters only where no control group can be had. */
  mappedBytes?: number;
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
 * The kernel's own for each process, by their names. Where a control group holds the whole, memory and processes are its
 * matter. Core files are none: they would land in the workspace.
 */
export function limitsOf(
  limits: FenceLimits,
  isWhole: boolean,
): Partial<Record<"data" | "nproc" | "fsize" | "core", number>> {
  const { memoryBytes, mappedBytes = 0, processes, fileBytes } = limits;
  const each = { fsize: fileBytes, core: 0 };
  return isWhole ? each : { data: memoryBytes + mappedBytes, nproc: processes, ...each };
}

/** Before the command, inside, where no control group holds the whole. */
export function limitWords(limits: FenceLimits): string[] {
  return [...Object.entries(limitsOf(limits, false)).map(([name, limit]) => `--${name}=${limit}:${limit}`), "--"];
}

/** What shells count the size of files in. */
const BLOCK_BYTES = 512;

/**
 * For a shell, where a control group holds memory and processes: what a single process maps and never touches
 * (sanitizers do) is no matter then.
 */
export const fileLimitSteps = ({ fileBytes }: FenceLimits): string =>
  `ulimit -c 0 && ulimit -f ${Math.ceil(fileBytes / BLOCK_BYTES)} || exit 125`;
