/** What is wrong with a command is told before anything is spent, in one line. */
import { expect, it } from "vitest";
import { plainAgent, plainSpec } from "../../../test/support/spec.ts";
import type { AgentSpec, CheckSpec } from "../../spec.ts";
import { commandEntrySchema, type CommandGiven } from "../../spec/command-agent.ts";
import { checkCommand } from "./check.ts";

interface Case {
  entry?: Partial<CommandGiven>;
  agent?: Partial<AgentSpec>;
  fenced?: true;
  judged?: true;
}

const ENV = { PATH: process.env["PATH"] ?? "", KEY: "k" };
const JUDGE: CheckSpec = {
  kind: "judge",
  name: "taste",
  command: "x",
  rubric: "x",
  passScore: 0.5,
  required: true,
  timeoutMs: 1,
};

function check({ entry = {}, agent = {}, fenced, judged }: Case): void {
  const parsed = commandEntrySchema.parse({ command: ["true"], output: { format: "text" }, ...entry });
  const { workspace, fence } = plainSpec("/the/work");
  checkCommand(
    {
      agent: { ...plainAgent, name: "mine", ...agent },
      workspace,
      fence: fenced === true ? { ...fence, kind: "bwrap", network: "off" } : { ...fence, kind: "none" },
      checks: judged === true ? [JUDGE] : [],
    },
    parsed,
    ENV,
  );
}

it("finds nothing wrong with a program that is there", () => {
  expect(() => check({ entry: { login: ["KEY"] } })).not.toThrow();
});

it.each<[string, Case, string]>([
  [
    "its program",
    { entry: { command: ["no-such-agent"] } },
    "the agent mine needs no-such-agent, which is not in the PATH",
  ],
  ["--agent-bin", { agent: { options: { bin: "/no/such" } } }, "--agent-bin /no/such is not a program"],
  ["its login", { entry: { login: ["A", "B"] } }, "the agent mine has no login: A, B is not set"],
  ["a model", { agent: { model: "m" } }, "--model means nothing to the agent mine: its command has no {model}"],
  [
    "people",
    { agent: { ask: { ...plainAgent.ask, permissions: "ask" } } },
    "--on-permission ask cannot be had with the agent mine: nobody can be asked while a command runs",
  ],
  ["a judge", { judged: true }, "check taste asks a model to judge, which the agent mine cannot"],
  [
    "the way to its model",
    { fenced: true, entry: { hosts: ["api.example.com"] } },
    "the agent mine reaches its model by itself, which the fence does not let it",
  ],
  ["a word in braces", { entry: { command: ["true", "{modle}"] } }, "agent mine: {modle} in its command means nothing"],
  [
    "a prompt that all can read",
    { entry: { command: ["true", "{prompt}"] } },
    "agent mine: {prompt} puts the prompt on the command line, where everybody can read it",
  ],
])("refuses for %s", (_, wrong, says) => {
  expect(() => check(wrong)).toThrow(expect.objectContaining({ name: "UsageError", message: says }));
});
