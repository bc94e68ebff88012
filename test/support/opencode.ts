/** The real opencode against the stand-in model: what its tools are called with. */
import type { Step } from "../../src/standin/script.ts";

export const bash = (command: string): Step => ({
  tools: [{ name: "bash", input: { command, description: "runs a command" } }],
});

export const write = (filePath: string, content: string): Step => ({
  tools: [{ name: "write", input: { filePath, content } }],
});
