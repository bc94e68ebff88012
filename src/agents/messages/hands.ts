/**
 * The model's hands: one process inside the fence that reads, writes, searches and runs commands for it. Started when it
 * is first needed and ended when a turn is; pawl's own process touches nothing of the workspace.
 */
import { readFileSync } from "node:fs";
import { ownFile } from "../../platform/own.ts";
import type { OpenRequest } from "../../ports.ts";
import { lines } from "../lines.ts";
import { startPiped, type Piped } from "../piped.ts";

/** Beyond a command's own limit: for the answer to arrive. */
const ANSWER_GRACE_MS = 5_000;
/** For everything that is not a command. */
const CALL_LIMIT_MS = 60_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface Done {
  ok: boolean;
  output: string;
}

export interface Hands {
  /** Never rejects. Ended, with the process, when `signal` says so. */
  call(tool: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Done>;
  /** Limits of the fence that were met since the last look. */
  limits(): string[];
  /** Ends the process with all it started; the next call starts another. Repeatable. */
  end(): Promise<void>;
}

interface Living {
  process: Piped;
  waiting: Map<number, (done: Done) => void>;
}

export function hands({ workspace, environment, confine }: OpenRequest): Hands {
  let living: Living | undefined;
  let ending: Promise<unknown> = Promise.resolve();
  let calls = 0;
  const met: string[] = [];

  function start(): Living {
    const source = readFileSync(ownFile("agents/messages/hands.mjs"), "utf8");
    const process = startPiped({
      command: globalThis.process.execPath,
      args: ["--input-type=module", "-e", source],
      cwd: workspace,
      env: environment,
      confine,
    });
    const waiting: Living["waiting"] = new Map();
    const reader = lines((line) => take(line, waiting), { maxBytes: MAX_ANSWER_BYTES });
    process.stdout.on("data", (chunk: Buffer) => reader.take(chunk));
    const started: Living = { process, waiting };
    void process.exited.then((why) => {
      if (living === started) living = undefined;
      met.push(...process.limits());
      const words = process.lastWords();
      const output = `the process of the tools ended (${why})${words === "" ? "" : `: ${words}`}`;
      for (const settle of waiting.values()) settle({ ok: false, output });
      ending = Promise.all([ending, process.end()]);
    });
    return started;
  }

  /** Whoever asks for the end waits for it, whoever asked first. */
  async function end(): Promise<void> {
    const ended = living;
    living = undefined;
    ending = Promise.all([ending, ended?.process.end()]);
    await ending;
  }

  return {
    async call(tool, input, signal) {
      if (signal.aborted) return OVER;
      try {
        living ??= start();
      } catch (error) {
        return { ok: false, output: `the tools cannot be started: ${String(error)}` };
      }
      const { process, waiting } = living;
      calls += 1;
      const id = calls;
      const settled = Promise.withResolvers<Done>();
      waiting.set(id, settled.resolve);
      const over = (): void => void end().then(() => settled.resolve(OVER));
      signal.addEventListener("abort", over, { once: true });
      const limitMs = typeof input["limitMs"] === "number" ? input["limitMs"] + ANSWER_GRACE_MS : CALL_LIMIT_MS;
      const timer = setTimeout(() => {
        settled.resolve({ ok: false, output: `no answer within ${limitMs} ms; the tools were started anew` });
        void end();
      }, limitMs);
      process.stdin.write(`${JSON.stringify({ id, tool, input })}\n`);
      try {
        return await settled.promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
        signal.removeEventListener("abort", over);
      }
    },
    limits: () => [...met.splice(0), ...(living?.process.limits() ?? [])],
    end,
  };
}

const OVER: Done = { ok: false, output: "the turn is over" };

function take(line: string, waiting: Living["waiting"]): void {
  try {
    const { id, ok, output } = JSON.parse(line) as { id: number; ok: unknown; output: unknown };
    waiting.get(id)?.({ ok: ok === true, output: String(output) });
  } catch {
    // What it started wrote there; no answer of ours.
  }
}
