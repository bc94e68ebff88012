/** `pawl standin`: a scripted model on loopback, for trying things without a key, a server or a bill. */
import { once } from "node:events";
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import { loadScript } from "../../../standin/script.ts";
import { startStandin } from "../../../standin/server.ts";
import { note, print } from "../output.ts";
import { wholeNumber } from "../reading.ts";
import { counted } from "../format.ts";

const MAX_PORT = 65_535;
/** Any key is good unless one is demanded, but agents want to have one. */
const ANY_KEY = "standin";

interface Options {
  script: string;
  port?: number;
  socket?: string;
  key?: string;
  log?: string;
  runCode?: boolean;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .requiredOption("--script <file>", "JSON or YAML: what the model says, step by step")
    .option("--port <n>", "any free one otherwise", portNumber)
    .option("--socket <path>", "also listen on a unix socket")
    .option("--key <key>", "answer 401 to every other key")
    .option("--log <file>", "append each request as a JSON line")
    .option("--run-code", "really run the code of steps that say so, here and without a fence")
    .addHelpText("after", EXAMPLES)
    .action(async ({ script, port, socket, key, log, runCode }: Options) => {
      const standin = await startStandin({
        script: loadScript(script),
        port,
        socketPath: socket,
        apiKey: key,
        logFile: log,
        runCode,
      });
      print(`export ANTHROPIC_BASE_URL=${standin.url}\nexport ANTHROPIC_API_KEY=${shellWord(key ?? ANY_KEY)}`);
      if (socket !== undefined) print(`export ANTHROPIC_UNIX_SOCKET=${shellWord(socket)}`);
      note(`the stand-in model answers on ${standin.url}; Ctrl-C ends it`);
      await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
      await standin.close();
      const { requests } = standin.billing;
      note(`${counted(requests, "request")} answered`);
      exit(EXIT.ok);
    });
}

function portNumber(text: string): number {
  const port = wholeNumber("--port")(text);
  if (port <= MAX_PORT) return port;
  throw new UsageError(`--port ${port} is not a port`, { hint: `at most ${MAX_PORT}` });
}

const shellWord = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const EXAMPLES = `
The form of a script is in docs/standin.md. What is printed on stdout can be
pasted into the shell where pawl runs.

Examples:
  pawl standin --script script.yaml
  pawl standin --script script.yaml --port 8123 --log requests.jsonl
`;
