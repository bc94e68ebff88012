/** A tool as people know it. */
import { oneLine } from "./plain.ts";

/** `mcp__server__tool` is `server/tool`. */
export const toolName = (name: string, { max }: { max: number }): string =>
  oneLine(name, { max }).replace(/^mcp__(.+?)__(.+)$/, "$1/$2");
