/**
 * Text of agents, programs and repositories made safe for a terminal: no escape sequence, control character or change
 * of writing direction passes. Every string that pawl did not write itself goes through here before it is shown.
 */

/** Sequences with their payload: CSI; OSC and the other strings, up to their end or the line's; short escapes. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g;
/** What is left of C0 (but for tab and line feed), DEL, C1, and the bidirectional controls. */
// oxlint-disable-next-line no-control-regex -- control characters are what this removes
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(SEQUENCES, "").replace(CONTROLS, "");
}

/** One line, at most `max` characters. */
export function oneLine(text: string, { max }: { max: number }): string {
  const line = plain(text.length > max * 4 ? text.slice(0, max * 4) : text)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
