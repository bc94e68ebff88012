/** A machine that has hardly a file descriptor left: the run ends in a line and goes on later, wherever it was. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { CLI, cliPlace, NODE } from "../support/cli.ts";

/** With the fewest not even the repository is looked at, with the most the run ends well. */
const LIMITS = [24, 32, 40, 46, 52, 256];
const TURN = ["echo work > work.txt", "<promise>COMPLETE</promise>"] as const;
const FAILED = 5;
const NEEDS_HUMAN = 4;

it.each(LIMITS)("with %i file descriptors a run is verified, or fails in a line and goes on (F6)", async (limit) => {
  const place = await cliPlace({ shellAgent: { 1: TURN } });
  const words = [NODE, CLI, "run", "write a file", "--check", "test -s work.txt"];
  const { status, stderr } = spawnSync("bash", ["-c", 'ulimit -n "$0" && exec "$@"', String(limit), ...words], {
    cwd: place.repository.path,
    env: place.env,
    encoding: "utf8",
  });
  expect([0, FAILED], stderr).toContain(status);
  if (limit === LIMITS[0]) expect(status).toBe(FAILED);
  if (limit === LIMITS.at(-1)) expect(status).toBe(0);
  expect(stderr).not.toMatch(/^\s+at |node:internal|Node\.js v/m);
  if (status === 0) return;
  expect(stderr).toMatch(/descriptor|EMFILE|unable to open database file/);
  const known = (await place.pawl("runs", "--json")).stdout.trim();
  let after = await place.pawl(...(known === "" || known === "[]" ? words.slice(2) : ["resume"]));
  // What could not be judged then may be all that is known of the work: whoever goes on once more has it judged again.
  if (after.code === NEEDS_HUMAN) after = await place.pawl("resume");
  expect(after.code, after.stderr).toBe(0);
});
