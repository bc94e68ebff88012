/** What the stand-in says in a turn, whoever asks: one command, then a few words. */
import type { StandinRequest } from "../src/standin/request.ts";
import type { Step } from "../src/standin/script.ts";

const COMMAND = "echo line >> work.txt";
/** By the names of the shells of the agents that are measured. */
const SHELLS: readonly [string, Step][] = [
  ["exec_command", { tools: [{ name: "exec_command", input: { cmd: COMMAND, yield_time_ms: 30_000 } }] }],
  ["bash", { tools: [{ name: "bash", input: { command: COMMAND, description: "appends a line" } }] }],
  ["Bash", { tools: [{ name: "Bash", input: { command: COMMAND } }] }],
];

export function turnOf({ tools }: StandinRequest, step: number): Step {
  if (step > 0 || tools.size === 0) return { text: "Another step is done." };
  const [, call] = SHELLS.find(([name]) => tools.has(name)) ?? [];
  if (call === undefined) throw new Error(`no shell among ${[...tools.keys()].join(", ")}`);
  return call;
}
