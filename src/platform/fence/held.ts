/** How a child ended. */
export interface Ended {
  exitCode: number | null;
  signalCode: NodeJS.Signals | null;
  /** Of a process that waited: it had heard which command to be. */
  isTold: boolean;
}

/** What is known of one command while a fence holds it: which of its limits it met. */
export interface Held {
  /** Limits met since the last look, in words for people; how it ended tells of some. */
  breaches(end?: { exitCode: number | null }): string[];
  /** Resolves, with words, when it must be ended for a limit that the kernel does not hold by itself; else never. */
  readonly tooMuch: Promise<string>;
  /** Where what it wrote below a layered place lies, until it is released; undefined: in that place itself. */
  readonly written?: string | undefined;
  /**
   * Whether it ended before the command began, which nothing inside can cause. `again`: the next try is made in another
   * way. To be asked once, before it is released.
   */
  unfit?(end: Ended): "again" | "final" | undefined;
  /** Once nothing of it runs any more. Repeatable. */
  release(): void;
}

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

export function sizeWords(bytes: number): string {
  const at = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** at;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[at]}`;
}
