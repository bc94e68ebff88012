/** Of all that an installer prints when it fails, the few lines that say why. */

const MAX_LINES = 4;
const MAX_CHARS = 500;

/** What npm puts before each of its lines. */
const PREFIX = /^npm (?:error|ERR!)\s?/;
const IS_WARNING = /^(?:npm warn|warn(?:ing)?\b|\(node:\d+\))/i;
const SAYS_WHY = /\berr(?:or)?\b|ERR[!_]|\bfatal\b|\bcould not\b|\bcannot\b|\bcan't\b|\bfailed\b|\bno matching\b|×/i;
/** What surrounds it: numbers for programs, where a log is, how a command is used. */
const IS_AROUND =
  /^(?:(?:code|errno|syscall|path|dest|command|type|address|port) |A complete log of|Usage:|Options:|Run "npm help|Clean install a project|at |[}\])]|-{1,2}\w|\[-)/;

/** On one line; empty when it said nothing. */
export function whatWentWrong(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => ({ text: line.replace(PREFIX, "").trim(), isError: PREFIX.test(line) }))
    .filter(({ text }) => !/^\d*$/.test(text) && !IS_WARNING.test(text));
  const first = lines.findIndex(({ text, isError }) => !IS_AROUND.test(text) && (isError || SAYS_WHY.test(text)));
  const after = first < 0 ? lines.slice(-MAX_LINES) : lines.slice(first);
  const end = after.findIndex(({ text }) => IS_AROUND.test(text));
  const chosen = after.slice(0, end < 0 ? MAX_LINES : Math.min(end, MAX_LINES));
  const words = chosen.map(({ text }) => text).join(" · ");
  return words.length > MAX_CHARS ? `${words.slice(0, MAX_CHARS)}…` : words;
}
