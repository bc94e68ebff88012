/**
 * The folders of one session's program. Its own home is never under its temporary folder: there it refuses to lay out
 * the helpers that its sandbox and its patches are made with.
 */
import { join } from "node:path";

export const codexHome = (home: string): string => join(home, "codex");
export const temporaryFolder = (home: string): string => join(home, "tmp");
/** Of the tools, while Codex's own sandbox holds them: it lays out a mask in every folder that can be written to. */
export const toolsFolder = (home: string): string => join(home, "tools-tmp");
/** Which thread of Codex's each session of pawl's is. */
export const threadsFolder = (home: string): string => join(home, "codex-threads");
