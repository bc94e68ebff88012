/** The view of a live run on this process's stderr: the same for who drives it and who watches. */
import { styleText } from "node:util";
import type { Redact } from "../../ports.ts";
import { terminalView, type Loudness, type RunView } from "../terminal.ts";

interface Shown {
  /** The facts go to stdout. */
  json: boolean;
  loudness: Loudness;
  redact: Redact;
  /** The agent's directory. */
  root: string;
  answers?: boolean;
}

export function runView({ json, loudness, redact, root, answers = false }: Shown): RunView {
  return terminalView({
    write: (text) => process.stderr.write(text),
    live: process.stderr.isTTY,
    colour: styleText("red", "x", { stream: process.stderr }) !== "x",
    loudness: json && loudness !== "verbose" ? "quiet" : loudness,
    redact,
    root,
    answers,
    now: () => Date.now(),
  });
}
