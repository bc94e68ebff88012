import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, tempRepository } from "../../../test/support/temp.ts";
import { scripted } from "../../agents/scripted.ts";
import { resume } from "./resume.ts";
import { run } from "./run.ts";

it("goes on with a run that a question holds", async () => {
  const environment = { PATH: process.env["PATH"] ?? "", HOME: tempDir("home"), PAWL_HOME: tempDir("state") };
  const leaving = new AbortController();
  const held = await run({
    goal: "make it two",
    cwd: tempRepository({ "a.txt": "one\n" }).path,
    environment,
    agent: scripted(() => {
      throw new Error("the agent broke");
    }),
    shortTurn: 0,
    onErrors: "pause",
    maxErrors: 1,
    signal: leaving.signal,
    onFact: ({ type }) => type === "human-requested" && leaving.abort(new Error("left")),
  });
  await expect(held.outcome).rejects.toThrow("left");
  const agent = scripted(({ workspace }) => {
    writeFileSync(join(workspace, "a.txt"), "two\n");
    return { text: "<promise>COMPLETE</promise>" };
  });
  const again = await resume(held.id, { environment, agent });
  expect((await again.outcome).outcome.is).toBe("claimed");
});
