/** Dependencies of a run that is judged with `--setup`: what the agent installs itself counts for nothing, its lockfile does. */
import { expect, it } from "vitest";
import { CLAIM, cliPlace } from "../support/cli.ts";

const LIMIT_MS = 240_000;
const SETUP =
  "mkdir -p node_modules/dep && echo \"module.exports = '$(cat versions.lock)'\" > node_modules/dep/index.js";

it("a changed node_modules is not believed, a changed lockfile is installed", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({
    files: { ".gitignore": "node_modules/\n", "versions.lock": "1", "add.js": "" },
    env: { PAWL_SETUP_KEYS: "versions.lock" },
    shellAgent: {
      1: [
        "mkdir -p node_modules/dep && echo \"module.exports = '2'\" > node_modules/dep/index.js; echo x > add.js",
        CLAIM,
      ],
      2: ["printf 2 > versions.lock", CLAIM],
    },
  });
  const check = "node -e \"require('assert').equal(require('dep'), '2')\"";
  const args = ["--setup", SETUP, "--check", `dep=${check}`, "--fence", "bwrap", "--max-iterations", "2", "--json"];
  const result = await place.pawl("run", "move to 2", ...args);
  const verdicts = result.of("check-end").map(({ iteration, verdict }) => [iteration, verdict.is]);
  expect(verdicts, result.stdout).toEqual([
    [1, "fail"],
    [2, "pass"],
  ]);
  expect(result.of("run-end").at(-1)?.outcome.is).toBe("verified");
});
