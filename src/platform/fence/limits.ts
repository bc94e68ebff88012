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

/** What shells count the size of files in. */
const BLOCK_BYTES = 512;

export const USUAL_LIMITS: FenceLimits = {
  memoryBytes: 8 * 1024 ** 3,
  processes: 2_048,
  fileBytes: 4 * 1024 ** 3,
};

/** Bytes and processes that this process may give at the most: nobody can raise what he was given himself. */
export type Most = Readonly<Record<"data" | "nproc" | "fsize", number>>;
const NAMES = { data: "Max data size", nproc: "Max processes", fsize: "Max file size" } as const;

/** `text`: of /proc/self/limits. What it does not tell has no end. */
export function mostIn(text: string): Most {
  const most = (name: string): number => {
    const hard = new RegExp(`^${name} +\\S+ +(\\d+) `, "m").exec(text)?.[1];
    return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
  };
  return { data: most(NAMES.data), nproc: most(NAMES.nproc), fsize: most(NAMES.fsize) };
}

/** As far as they can be given. */
export function within(limits: FenceLimits, most: Most): FenceLimits {
  const memoryBytes = Math.min(limits.memoryBytes, most.data);
  return {
    ...limits,
    memoryBytes,
    ...(limits.mappedBytes === undefined ? {} : { mappedBytes: Math.min(limits.mappedBytes, most.data - memoryBytes) }),
    processes: Math.min(limits.processes, most.nproc),
    // In whole blocks, as a shell gives it.
    fileBytes: Math.min(limits.fileBytes, Math.floor(most.fsize / BLOCK_BYTES) * BLOCK_BYTES),
  };
}

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

/**
 * For a shell, where a control group holds memory and processes: what a single process maps and never touches
 * (sanitizers do) is no matter then.
 */
export const fileLimitSteps = ({ fileBytes }: FenceLimits): string =>
  `ulimit -c 0 && ulimit -f ${Math.ceil(fileBytes / BLOCK_BYTES)} || exit 125`;
