/**
 * Text of agents, models, tools and repositories made safe to show: no escape sequence, control character or
 * direction override of theirs reaches a terminal. Every view passes such text through here.
 */
const ESC = String.fromCharCode(0x1b);
const BEL = String.fromCharCode(0x07);
/** Single-character forms of ESC [, ESC ], ESC P / X / ^ / _ and ESC \. */
const CSI = String.fromCharCode(0x9b);
const OSC = String.fromCharCode(0x9d);
const STRING_OPENERS = String.fromCharCode(0x90, 0x98, 0x9e, 0x9f);
const ST = String.fromCharCode(0x9c);

/** Whole sequences first, so that nothing of their inside is left as text; what does not end in its line is shown as text. */
const SEQUENCES = new RegExp(
  [
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `(?:${ESC}[\\]PX^_]|[${OSC}${STRING_OPENERS}])[^\\n${ESC}${BEL}${ST}${OSC}${STRING_OPENERS}]*(?:${BEL}|${ST}|${ESC}\\\\)`,
    `${ESC}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);
/** Controls but for line feed and tab; and what turns the direction or the order of text. */
const CONTROLS = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

/** Line breaks and tabs stay. */
export function plain(text: string): string {
  return text.replaceAll(SEQUENCES, "").replaceAll(/\r\n?/g, "\n").replaceAll(CONTROLS, "");
}

/** On one line, at most `max` characters, with `…` where it was cut. */
export function oneLine(text: string, { max }: { max: number }): string {
  // Cut before the work too: a line of output may be megabytes long.
  const line = plain(text.slice(0, max * 8))
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join("")}…`;
}
