/** The ways to say something, their receipts, and taking it back; with the real Claude Code in a turn that is held open. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace, GATE } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

/** Held longer than a call may take by itself. */
const bash = (command: string) => ({
  tools: [{ name: "Bash", input: { command, description: "work", timeout: 600_000 } }],
});
/** Held by a file that git ignores, in the one place that both see. */
const heldBy = (gate: string) => bash(`while [ ! -e ${GATE}${gate} ]; do sleep 0.05; done`);

it("lists what was said, takes back what is not on its way, and says only-now into the running turn or not at all", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [heldBy("one"), { text: "Not yet." }],
      2: [heldBy("two"), bash("echo right > work.txt"), { text: CLAIM }],
    }),
  });
  const open = (gate: string): void => writeFileSync(join(place.repository.path, `${GATE}${gate}`), "");
  const driver = place.start(["run", "write work.txt", "--check", "grep -q right work.txt"]);
  await waitFor(() => driver.stderr().includes("→ Bash"), { what: "the first tool call" });
  const receipt = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await place.pawl(...args, "--json")).stdout);

  expect(await receipt("steer", "--next", "say wombat")).toMatchObject({ id: "d1", receipt: "queued", driven: true });
  expect(await receipt("steer", "--next", "say quokka")).toMatchObject({ id: "d2", receipt: "queued" });
  const taken = await place.pawl("steer", "--cancel", "d1", "--wait");
  expect([taken.code, taken.stdout]).toEqual([0, "d3 delivered (took it back)\n"]);
  expect(await receipt("budget", "--max-iterations", "9", "--wait")).toMatchObject({
    receipt: "delivered",
    how: "limits changed",
  });
  expect(await receipt("stop", "--after", "--wait")).toMatchObject({ receipt: "delivered" });
  expect((await place.pawl("resume")).stderr).toContain("it was told to go on");
  const again = await place.pawl("steer", "--cancel", "d1");
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("d1 is delivered already: taken back")]);
  expect((await place.pawl("steer", "--cancel", "d4")).stderr).toContain("only words can be taken back");
  expect(await receipt("steer", "--no-wait", "--only-now", "say numbat")).toMatchObject({
    receipt: "queued",
    how: null,
  });

  open("one");
  await waitFor(() => driver.stderr().split("→ Bash").length === 3, { what: "the second tool call" });
  const status = (await place.pawl("status")).stdout;
  expect(status).toMatch(/^state +working, iteration 2 of 9, turn 2 running for /m);
  expect(status).toMatch(
    /^Last iterations\n {2}1 +(?:\d+ min )?[\d.]+ s +Bash × 1 +0 files \+0 -0 +.*: fail +\$0\.\d+ +/m,
  );
  expect(status).toMatch(/^ {2}d1 +delivered +say next "say wombat" +taken back$/m);
  expect(status).toMatch(/^limits +iterations 2 of 9 \(7 left\)$/m);
  open("two");
  expect((await driver.done).code).toBe(0);
  const list = (await place.pawl("steer", "--list")).stdout;
  expect(list).toMatch(/^d1 +delivered +say next "say wombat" +taken back$/m);
  expect(list).toMatch(/^d2 +acknowledged +say next "say quokka" +in the prompt of turn 2$/m);
  expect(list).toMatch(/say only-now "say numbat" +(into the running turn 1|not said: the turn had ended)$/m);
  const sent = place.sent().join("\n");
  expect(sent).not.toContain("wombat");
  expect(sent).toContain("quokka");
});
