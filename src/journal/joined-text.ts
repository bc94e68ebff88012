/**
 * Puts the pieces of a streamed text together again, word by word: a secret that a model's stream cuts in two would
 * be masked in neither line. What comes after the last blank waits for the next piece or for another kind of line.
 */
import type { TraceLine } from "../ports.ts";

/** A word that long is no secret, or one that its beginning gives away to the masking. */
const MAX_WORD_CHARS = 4_096;
/** Joined lines stay well below what a line may hold. */
const MAX_JOINED_CHARS = 8_192;

type Emit = (run: string, line: TraceLine) => void;

export interface TextJoiner {
  write(run: string, line: TraceLine): void;
  /** Lets go what ends in a blank. */
  settle(): void;
  /** Lets go everything. */
  finish(): void;
}

interface TextData {
  type?: unknown;
  text: string;
}
interface Held {
  line: TraceLine;
  data: TextData;
}

export function joinTexts(emit: Emit): TextJoiner {
  const held = new Map<string, Held>();

  const letGo = (run: string): void => {
    const open = held.get(run);
    if (open === undefined) return;
    held.delete(run);
    emit(run, open.line);
  };
  const settleOne = (run: string, { line, data }: Held): void => {
    const end = endOfWords(data.text);
    if (end === 0) return;
    held.delete(run);
    emit(run, { ...line, data: { ...data, text: data.text.slice(0, end) } });
    const rest = data.text.slice(end);
    if (rest !== "") hold(run, { ...line, data: { ...data, text: rest } });
  };
  const hold = (run: string, line: TraceLine): void => {
    const data = { ...(line.data as TextData) };
    held.set(run, { line: { ...line, data }, data });
  };

  return {
    write(run, line) {
      const open = held.get(run);
      if (open !== undefined && isText(line.data) && continues(open, line)) {
        open.data.text += line.data.text;
        if (open.data.text.length > MAX_JOINED_CHARS) settleOne(run, open);
        return;
      }
      letGo(run);
      if (isText(line.data)) hold(run, line);
      else emit(run, line);
    },
    settle: () => [...held].forEach(([run, open]) => settleOne(run, open)),
    finish: () => [...held.keys()].forEach(letGo),
  };
}

function isText(data: unknown): data is TextData {
  if (typeof data !== "object" || data === null) return false;
  return (
    Object.keys(data).every((key) => key === "type" || key === "text") && typeof (data as TextData).text === "string"
  );
}

function continues({ line, data }: Held, next: TraceLine): boolean {
  return line.turn === next.turn && line.kind === next.kind && data.type === (next.data as TextData).type;
}

/** Behind the last blank; of a word without end, all. */
function endOfWords(text: string): number {
  let end = text.length;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.length - end > MAX_WORD_CHARS ? text.length : end;
}
