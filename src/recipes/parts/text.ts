/** What the parts of a prompt share. */
import type { TurnAction } from "../../loop/actions.ts";

export const KIB = 1024;

/** The session does not know what went before: it is told everything once. */
export const isOpening = ({ session }: TurnAction): boolean => session.mode !== "continue";

/** It goes on where it was before others worked: what happened meanwhile is new to it. */
export const isReturning = ({ returning }: TurnAction): boolean => returning !== undefined;

/** What programs and files say is data: indented, so that nothing in it reads as a heading or a fence of the prompt. */
export function quote(text: string, { by = 4 }: { by?: number } = {}): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, " ".repeat(by));
}
