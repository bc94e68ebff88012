/**
 * What a test file leaves is taken away when it ends, also where the next one runs in the same process: modules are
 * loaded once there, and a hook of theirs would be the first file's alone.
 */
const cleaners: (() => void | Promise<void>)[] = [];

/** Once per module; called at the end of every file. */
export function atFileEnd(clean: () => void | Promise<void>): void {
  cleaners.push(clean);
}

/** The last first: it may stand on those before it. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleaners.toReversed()) await clean();
}
