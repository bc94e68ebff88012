/** A driver that was killed while it stopped: `pawl resume`, which it told of, goes on. */
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

it("goes on with a run whose driver was killed after Ctrl-C", async () => {
  const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command, description: "work" } }] });
  const place = await cliPlace({
    script: byIteration({
      1: [bash("echo half > half.txt; sleep 2"), { text: "Half." }],
      2: [bash("echo made > made.txt"), { text: CLAIM }],
    }),
  });
  const killed = place.start(["run", "make it", "--check", "test -f made.txt"]);
  await waitFor(() => killed.stderr().includes("→ Bash"), { what: "the tool call" });
  killed.child.kill("SIGINT");
  await waitFor(() => killed.stderr().includes("directive d1 delivered"), { what: "the stop" });
  killed.child.kill("SIGKILL");
  expect((await killed.done).signal).toBe("SIGKILL");
  const resumed = await place.pawl("resume");
  expect([resumed.code, resumed.stdout]).toEqual([0, "verified pawl/make-it\n"]);
});
