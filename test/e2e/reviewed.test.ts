/** A run whose worker and reviewer are the same program: both are in the fence at once, each with its own way to the model. */
import { expect, it } from "vitest";
import { promptOf } from "../../src/standin/request.ts";
import { CLAIM, cliPlace } from "../support/cli.ts";

it("Codex reviews what Codex did, and Codex goes on after that", async () => {
  const place = await cliPlace({
    script: (request, step) => {
      const prompt = promptOf(request);
      if (prompt.includes("Review of iteration")) return { text: "Fine." };
      const n = Number(/Iteration (\d+)/.exec(prompt)?.[1]);
      const tools = [{ name: "exec_command", input: { cmd: `echo ${n} >> made.txt` } }];
      return step === 0 ? { tools } : { text: n === 2 ? CLAIM : "Not yet." };
    },
  });
  const env = { OPENAI_API_KEY: place.env["ANTHROPIC_API_KEY"] ?? "", OPENAI_BASE_URL: `${place.standin?.url}/v1` };
  const line = [
    "run",
    "make made.txt",
    "--agent",
    "codex:gpt-5.5",
    "--review",
    "--check",
    "test $(wc -l < made.txt) = 2",
  ];
  const result = await place.start([...line, "--fence", "bwrap", "--json"], { env }).done;
  expect(result.of("turn-end").map(({ outcome }) => outcome)).toEqual(
    Array.from({ length: 4 }, () => ({ is: "done" })),
  );
  expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
});
