/** What a person types while the run works, one command a line. */
import type { IterationAnswer, RunHandle } from "pawl";

export interface Commands {
  /** What was asked for since the last time, for the next iteration. */
  take(): IterationAnswer;
}

const HELP = "say TEXT | now TEXT | model NAME | skip | stop | interrupt";

/** `say`, `model`, `skip` and `stop` wait for the end of the iteration; `now` and `interrupt` do not. */
export function readCommands(lines: AsyncIterable<string>, { handle }: { handle: () => RunHandle }): Commands {
  let asked: IterationAnswer = {};
  const obey = async (line: string): Promise<void> => {
    const [word = "", ...rest] = line.trim().split(" ");
    const text = rest.join(" ");
    if (word === "say") asked = { ...asked, say: [asked.say, text].filter(Boolean).join("\n") };
    else if (word === "model") asked = { ...asked, model: text };
    else if (word === "skip") asked = { ...asked, skipTask: true };
    else if (word === "stop") asked = { ...asked, stop: true };
    else if (word === "now") await handle().say(text, { when: "now" });
    else if (word === "interrupt") await handle().interrupt();
    else if (word !== "") console.log(HELP);
  };
  const listen = async (): Promise<void> => {
    for await (const line of lines) await obey(line).catch((error: unknown) => console.log(String(error)));
  };
  void listen();
  return {
    take() {
      const answer = asked;
      asked = {};
      return answer;
    },
  };
}
