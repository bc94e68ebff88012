import { expect, it } from "vitest";
import { configFile } from "./config-file.ts";
import { nextSteps, startLine } from "./next-steps.ts";

it("advises `pawl check` only where there is a check", () => {
  const nothing = { checks: [], model: undefined, others: [], setups: [], needsSetup: false, hasSchema: false };
  expect(nextSteps({ hasChecks: true })).toContain("pawl check");
  expect(nextSteps({ hasChecks: false })).not.toContain("pawl check");
  expect(nextSteps({ hasChecks: false })).toContain("under `checks` in pawl.yaml");
  expect(configFile(nothing)).not.toContain("pawl check");
  expect(configFile({ ...nothing, checks: [{ name: "tests", command: "make test" }] })).toContain("pawl check");
});

it("starts a run with the project's own checks", () => {
  const found = (command: string) => ({ purpose: "tests", command, from: "x" }) as const;
  expect(startLine({ hasChecks: true, found: found("go test ./...") })).toBe('pawl run "your goal"');
  expect(startLine({ hasChecks: false, found: found("go test ./...") })).toBe(
    'pawl run "your goal" --check "go test ./..."',
  );
  expect(startLine({ hasChecks: false, found: found('echo "$A"') })).toBe(`pawl run "your goal" --check 'echo "$A"'`);
  expect(startLine({ hasChecks: false, found: undefined })).toBe('pawl run "your goal" --check "COMMAND"');
});
