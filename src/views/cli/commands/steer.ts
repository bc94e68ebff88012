/** `pawl steer`: words for the agent, into the running turn or the next prompt. */
import { readFileSync } from "node:fs";
import { Option, type Command } from "commander";
import { UsageError } from "../../../errors.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";
import { runAndWhat } from "../reading.ts";

const MAX_TEXT_BYTES = 64 * 1024;

interface Options extends SteerOptions {
  now?: boolean;
  next?: boolean;
  file?: string;
}

export function configure(command: Command, exit: (code: number) => void): void {
  steering(
    command
      .argument("[words...]", "[RUN] TEXT")
      .usage("[options] [RUN] TEXT")
      .addOption(new Option("--now", "into the running turn where the agent can take it (default)").conflicts("next"))
      .addOption(new Option("--next", "in the next prompt"))
      .option("-f, --file <path>", "the text from a file, `-` for stdin"),
  )
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], options: Options) => {
      const { asked, text } = given(words, options);
      const when = options.next === true ? "next" : "now";
      exit(await steer(asked, { kind: "say", text: checked(text), when }, options));
    });
}

function given(words: readonly string[], { file }: Options): { asked: string | undefined; text: string | undefined } {
  if (file === undefined) {
    const { asked, what } = runAndWhat(words);
    return { asked, text: what };
  }
  if (words.length > 1) throw new UsageError("a text and --file at once", { hint: "give one of them" });
  return { asked: words[0], text: read(file) };
}

function read(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function checked(text: string | undefined): string {
  if (text === undefined || text.trim() === "") {
    throw new UsageError("nothing to say: the text is missing", { hint: 'pawl steer [RUN] "your words"' });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return text;
  throw new UsageError(`the text has ${bytes} bytes; at most ${MAX_TEXT_BYTES} can be said at once`, {
    hint: "write it to a file in the repository and name the file",
  });
}

const EXAMPLES = `
RUN may be left out: then it is the run of this repository that is driven now, else its newest. Of two words the first
is the run. A single word that begins with "r-" is taken for a run without a text; say such a text with --file.

Examples:
  pawl steer "leave the public API as it is"
  pawl steer r-20261115-k3f "use the helper in src/date.ts" --next
  pawl steer --file notes.md --wait
`;
