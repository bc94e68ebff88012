import { expect, it } from "vitest";
import { plainAgent } from "../../../test/support/spec.ts";
import type { AgentSpec } from "../../spec.ts";
import { commandEntrySchema } from "../../spec/command-agent.ts";
import { commandOptions } from "./options.ts";

const ENTRY = commandEntrySchema.parse({
  command: ["agent", ["--effort", "{effort}"], ["--mcp", "{mcp}"]],
  output: { format: "text" },
});
const asked = (options: AgentSpec["options"]) =>
  commandOptions(ENTRY, { ...plainAgent, name: "mine", options }, "/a/folder");

it("puts what was asked where the command has a place for it", () => {
  const { bin, maxRequests, values } = asked({ effort: "high", mcp: ["a.json"], bin: "other", extra: ["-v"] });
  expect({ bin, maxRequests, values }).toEqual({
    bin: "other",
    maxRequests: undefined,
    values: { effort: "high", mcp: ["/a/folder/a.json"], args: ["-v"] },
  });
});

it.each<[string, AgentSpec["options"], string]>([
  [
    "what it has no place for",
    { tools: ["Bash"] },
    "--tools means nothing to the agent mine: its command has no {tools}",
  ],
  [
    "a limit that nobody could keep",
    { maxTurns: 3 },
    "--agent-max-turns means nothing to the agent mine: its command has no {max-turns}",
  ],
  ["a server", { server: "http://127.0.0.1:1" }, "--agent-server means nothing to the agent mine: it is a command"],
  ["what no command knows", { newThing: true }, "--new-thing means nothing to the agent mine: it is a command"],
])("refuses %s in one line that names the flag and the agent", (_, options, says) => {
  expect(() => asked(options)).toThrow(expect.objectContaining({ name: "UsageError", message: says }));
});
