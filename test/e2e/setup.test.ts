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

it("a setup that fails says what was wrong, not where its log is (I2)", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ files: { "a.txt": "1\n" } });
  const npm =
    "npm error code EUSAGE\\nnpm error Missing: yaml@2.9.1 from lock file\\nnpm error A complete log of this run\\n";
  const { code, stdout, stderr } = await place.pawl(
    "check",
    "--setup",
    `printf '${npm}' >&2; exit 1`,
    "--check",
    "true",
  );
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain("Missing: yaml@2.9.1 from lock file");
  expect(stdout + stderr).not.toContain("A complete log");
});

it("packages that nobody installed are named before anything is paid, and with the check that fails (I2)", async () => {
  const place = await cliPlace({
    files: {
      ".gitignore": "node_modules/\n",
      "package.json": JSON.stringify({ scripts: { test: "no-such-runner" }, devDependencies: { runner: "1.0.0" } }),
      "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages: { "": {}, "node_modules/runner": {} } }),
    },
    shellAgent: { 1: ["mkdir -p node_modules/runner; echo x > made.txt", CLAIM] },
  });
  const result = await place.pawl("run", "mend it", "--check", "tests=npm test", "--max-iterations", "1");
  expect(result.stderr.split("iteration 1")[0]).toContain("no packages are installed in node_modules");
  expect(result.stderr).toContain("--setup 'npm ci' --network registries");
  const shown = await place.pawl("show", "--json");
  expect(shown.stdout).toContain("[pawl] no packages are installed in node_modules");
});
