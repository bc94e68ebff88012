import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { USUAL } from "../test/support/judging.ts";
import { tempDir } from "../test/support/temp.ts";
import { resolveSettings, type Sources } from "./config.ts";
import { toRunSpec } from "./config/run-spec.ts";
import { UsageError } from "./errors.ts";

interface Given {
  project?: string;
  user?: string;
  env?: Sources["env"];
  flags?: NonNullable<Sources["flags"]>;
}

function resolve({ project, user, env = {}, flags = {} }: Given) {
  const root = tempDir("config");
  const [repository, userDir] = [join(root, "repository"), join(root, "user")];
  for (const dir of [repository, userDir]) mkdirSync(dir);
  if (project !== undefined) writeFileSync(join(repository, "pawl.yaml"), project);
  if (user !== undefined) writeFileSync(join(userDir, "config.yaml"), user);
  return resolveSettings({ flags, env, repository, userDir });
}

const specOf = (given: Given) =>
  toRunSpec(resolve(given), {
    run: "r-1",
    goal: "g",
    repository: "/r",
    path: "/r",
    branch: "pawl/g",
    fence: "none",
    hosts: [],
    environment: {},
  });

describe("settings", () => {
  it("come from the flag, else the environment, else the project, else the user, else the default", () => {
    const all = {
      user: "max-cost: 1\n",
      project: "max-cost: 2\n",
      env: { PAWL_MAX_COST: "3" },
      flags: { "max-cost": "4" },
    };
    const { flags: _, ...noFlag } = all;
    const { env: __, ...files } = noFlag;
    const found = [all, noFlag, files, { user: all.user }, {}].map((given) => {
      const { settings, origins } = resolve(given);
      return [settings["max-cost"], origins["max-cost"]?.from];
    });
    expect(found).toEqual([
      [4, "flag"],
      [3, "environment"],
      [2, "project"],
      [1, "user"],
      [undefined, undefined],
    ]);
    expect(resolve({}).origins["max-iterations"]).toEqual({ from: "default", where: "default" });
  });

  it.each<[string, Given, RegExp, string | undefined]>([
    [
      "an unknown key",
      { project: "max-itterations: 3\n" },
      /pawl\.yaml has an unknown key "max-itterations"/,
      "did you mean max-iterations?",
    ],
    ["swapped letters", { user: "modle: x\n" }, /unknown key "modle"/, "did you mean model?"],
    ["an unknown variable", { env: { PAWL_MODLE: "x" } }, /PAWL_MODLE is not a setting/, "did you mean PAWL_MODEL?"],
    ["broken YAML", { project: "a: [\n" }, /is not YAML/, undefined],
    ["a list of settings", { project: "- a\n" }, /must have settings by name/, undefined],
    ["a key inside a check", { project: "checks: [{ run: x, tmeout: 3 }]\n" }, /checks in .*pawl\.yaml/, undefined],
    ["a rung that does not exist", { project: "ladder: [hint, pray]\n" }, /ladder in/, undefined],
    [
      "a choice that does not exist",
      { env: { PAWL_CONTEXT: "none" } },
      /PAWL_CONTEXT must be one of: persistent, fresh, auto/,
      undefined,
    ],
    ["an empty check", { flags: { checks: [""] } }, /^--check must be a command, .*, not ""$/, undefined],
    [
      "one of several checks",
      { project: "checks: [a, { run: x, timeout: soon }]\n" },
      /pawl\.yaml \(number 2\) must be a command, .*, not \{"run"/,
      undefined,
    ],
    [
      "a promise that cannot be seen",
      { flags: { promise: "\u0007" } },
      /--promise must be a word that can be seen/,
      undefined,
    ],
    ["a promise of nothing", { flags: { promise: "\u200B" } }, /can be seen/, undefined],
    ["a promise over two lines", { flags: { promise: "a\nb" } }, /--promise must be one line/, undefined],
    ["a backoff above its maximum", { project: "backoff: 20m\n" }, /backoff is more than max-backoff/, undefined],
  ])("refuse %s in one line", (_, given, says, hint) => {
    expect(() => resolve(given)).toThrow(UsageError);
    expect(() => resolve(given)).toThrow(says);
    expect(() => resolve(given)).not.toThrow(/\n/);
    if (hint !== undefined) expect(() => resolve(given)).toThrow(expect.objectContaining({ hint }));
  });

  it("leave pawl's own variables that are no settings alone", () => {
    const env = { PAWL_HOME: "/x", PAWL_RUN: "r-1", PAWL_FAULT: "spawn", PAWL_PROC: "1", PAWL_HOOK: "1", OTHER: "y" };
    expect(resolve({ env })).toEqual(resolve({}));
  });
});

describe("the specification of a run", () => {
  it("has the documented defaults", () => {
    const spec = specOf({});
    expect(spec.limits).toEqual({ iterations: 20 });
    expect(spec.minIterations).toBe(2);
    expect(spec.maxErrors).toBe(3);
    expect(spec.claim).toEqual({ promise: "COMPLETE", required: true, confirmations: 1 });
    expect(spec.struggle).toEqual({
      patience: 3,
      shortTurnMs: 30_000,
      ladder: ["hint", "fresh-session", "other-agent", "restore-best", "stop"],
    });
    expect(spec.waits).toEqual({ backoffBaseMs: 5_000, backoffMaxMs: 900_000, limitCapMs: 86_400_000 });
    expect(spec.agent).toMatchObject({
      name: "claude",
      context: "auto",
      idleTimeoutMs: 600_000,
      turnTimeoutMs: 3_600_000,
    });
    expect(specOf({ flags: { checks: ["npm test"] } }).minIterations).toBe(1);
    expect(specOf({ flags: { "max-iterations": "1" } }).minIterations).toBe(1);
  });

  it("names checks after their commands unless they are named", () => {
    const checks = ["npm test", "lint=npm run lint", "CI=1 make", { run: "true", timeout: "5s", required: false }];
    expect(
      specOf({ flags: { checks } }).checks.map(({ name, command, required, timeoutMs }) => [
        name,
        command,
        required,
        timeoutMs,
      ]),
    ).toEqual([
      ["npm test", "npm test", true, 600_000],
      ["lint", "npm run lint", true, 600_000],
      ["CI=1 make", "CI=1 make", true, 600_000],
      ["true", "true", false, 5_000],
    ]);
  });

  it("carries limits, models and what only the agent understands", () => {
    const spec = specOf({
      flags: {
        "max-time": "1h",
        "max-tokens": "2M",
        "max-turn-cost": "0.5",
        model: "a",
        "fallback-model": "b",
        tools: "Bash, Read",
      },
      env: { PAWL_AGENT_MAX_TURNS: "7", PAWL_UNTIL_GREEN: "yes", PAWL_CHECKS: "npm test\nlint=npm run lint" },
    });
    expect(spec.limits).toEqual({ iterations: 20, drivenMs: 3_600_000, tokens: 2_000_000, turnUsd: 0.5 });
    expect(spec.agent).toMatchObject({
      model: "a",
      fallbackModel: "b",
      options: { tools: ["Bash", "Read"], maxTurns: 7 },
    });
    expect(spec.claim.required).toBe(false);
    expect(spec.checks.map((check) => check.name)).toEqual(["npm test", "lint"]);
  });

  it("names hooks after their place, and gives each 30 s and the mildest policy", () => {
    const hooks = [
      { on: "run-end", run: "true" },
      { name: "gate", on: "error, stall", run: "x", policy: "block", prompt: true, timeout: "5s" },
    ];
    expect(specOf({ flags: { hooks } }).hooks).toEqual([
      { name: "1", on: ["run-end"], command: "true", policy: "warn", toPrompt: false, timeoutMs: 30_000 },
      { name: "gate", on: ["error", "stall"], command: "x", policy: "block", toPrompt: true, timeoutMs: 5_000 },
    ]);
  });

  it.each([
    [[{ on: [], run: "true" }], /^hook 1 has no point/],
    [[{ on: "iteration-and", run: "true" }], /^--hooks \(on\.0\) /],
    [[{ on: "error", run: "true", policy: "shout" }], /must be warn, block or suspend/],
    [[{ on: "run-end", run: "true", policy: "suspend" }], /nothing left to suspend/],
    [["a", "a"].map((name) => ({ name, on: "error", run: "true" })), /two hooks are called a/],
  ])("refuses hooks that cannot be meant (%#)", (hooks, says) => {
    expect(() => specOf({ flags: { hooks } })).toThrow(says);
  });

  it("keeps notes where errors pause, and asks people before it gives up where they may be asked", () => {
    expect(specOf({}).notes).toBeUndefined();
    expect(specOf({ flags: { "on-errors": "pause" } }).notes).toMatchObject({ file: "NOTES.md" });
    expect(specOf({ flags: { "on-errors": "pause", notes: "MINE.md" } }).notes).toMatchObject({ file: "MINE.md" });
    expect(specOf({}).struggle.ladder).not.toContain("ask");
    expect(specOf({ flags: { questions: "ask" } }).struggle.ladder.slice(-2)).toEqual(["ask", "stop"]);
    expect(specOf({ flags: { questions: "ask", ladder: "hint,stop" } }).struggle.ladder).toEqual(["hint", "stop"]);
  });

  it("says how verdicts are put together: the usual, and what pawl.yaml or flags say otherwise", () => {
    expect(specOf({}).verdicts).toEqual({ ...USUAL, passes: 3 });
    const project =
      'leave-failing: true\nreruns: 0\ncombine: weighted\nthreshold: 0.5\ncontrol: off\nquarantine:\n  - test: "a > b"\n    until: 2026-12-31\n';
    expect(specOf({ project, flags: { passes: "5" } }).verdicts).toEqual({
      combine: "weighted",
      threshold: 0.5,
      preExisting: "leave",
      reruns: 0,
      passes: 5,
      control: "off",
      quarantine: [{ test: "a > b", until: "2026-12-31" }],
    });
    expect(specOf({ flags: { "require-all": true } }).verdicts.preExisting).toBe("require");
    expect(specOf({ flags: { "require-control": true } }).verdicts.requireControl).toBe(true);
  });

  it.each([
    [{ "require-all": true, "leave-failing": true }, /require-all contradicts leave-failing/],
    [{ "require-control": true, control: "off" }, /require-control contradicts control off/],
    [{ threshold: "1.5" }, /--threshold must be a number from 0 to 1/],
    [{ combine: "most" }, /must be one of: veto, all, weighted, quorum/],
    [{ reruns: "-1" }, /must be a whole number, 0 for none/],
    [{ quarantine: [{ test: "a", until: "soon" }] }, /must be a date such as/],
  ])("refuses verdicts that cannot be meant (%#)", (flags, says) => {
    expect(() => specOf({ flags })).toThrow(says);
  });
});
