import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plainSolve } from "../../test/support/solve-spec.ts";
import { tempDir } from "../../test/support/temp.ts";
import { parsedFlags, resolveSettings } from "../config.ts";
import { REGISTRIES } from "../platform/egress-rules.ts";
import { detectProtect } from "./protect/detect.ts";
import { COMPARABLE, refuseDifferences } from "./frozen.ts";
import { toRunSpec } from "./run-spec.ts";
import { flagOf, SETTING_NAMES, type SettingName } from "./settings.ts";

type Flags = Partial<Record<SettingName, unknown>>;
const MAY_CHANGE =
  /^(max-(iterations|turns|tool-calls|tokens|cost|turn-cost|time|calls-per-hour)|model|trust-promise)$/;

function specOf(flags: Flags) {
  const resolved = resolveSettings({ flags, env: {}, repository: undefined, userDir: "/nonexistent" });
  const environment = { PATH: "/bin", LANG: "C", ...(flags.home === "user" ? { HOME: "/h" } : {}) };
  const { branch = "pawl/g", template } = resolved.settings;
  const frozenTemplate = template === undefined ? {} : { template: readFileSync(template, "utf8") };
  const about = { run: "r-1", goal: "g", repository: "/r", path: "/r", branch, environment, ...frozenTemplate };
  const hosts = [...(flags.network === "registries" ? REGISTRIES : []), ...resolved.settings["allow-host"]];
  const { protect: added, unprotect, "allow-test-changes": allowTestChanges } = resolved.settings;
  const protect = detectProtect(
    { names: new Set(), manifests: [], read: () => undefined, holds: () => false, list: () => [] },
    { commands: [], protect: added, unprotect, allowTestChanges, pathFolders: [] },
  );
  const fence = flags.fence === "bwrap" ? "bwrap" : "none";
  return { ...toRunSpec(resolved, { ...about, protect, fence, hosts }), solve: solveOf(resolved.settings) };
}
const solveOf = (s: ReturnType<typeof resolveSettings>["settings"]): typeof plainSolve => ({
  ...plainSolve,
  executor: s.executor,
  ...(s.language === undefined ? {} : { language: s.language }),
  history: s.history,
  requestTokens: s["request-tokens"],
  repeats: s.repeats,
  parallel: s.parallel,
  stepTries: s["step-tries"],
  limits: {
    timeoutMs: s["code-time"],
    memoryBytes: s["code-memory"],
    processes: s["code-processes"],
    diskBytes: s["code-disk"],
    outputBytes: s["code-output"],
  },
});
function templateOf(text: string): string {
  const path = join(tempDir("template"), "t.md");
  writeFileSync(path, text);
  return path;
}
const compare = (given: Flags, run: Flags): void =>
  refuseDifferences(parsedFlags(given), { spec: specOf(run), say: (_, value) => String(value) });

/** A value of each that is not the default. */
const OTHER: Flags = {
  checks: ["npm test"],
  "until-green": true,
  setup: "npm ci",
  promise: "READY",
  "abort-promise": "NO",
  confirmations: "2",
  criteria: ["fast"],
  protect: ["docs/"],
  unprotect: [".github/**"],
  "allow-test-changes": true,
  "min-iterations": "3",
  "require-all": true,
  "leave-failing": true,
  reruns: "0",
  passes: "5",
  control: "off",
  "require-control": true,
  combine: "quorum",
  threshold: "0.5",
  "max-errors": "5",
  tasks: "T.md",
  notes: "N.md",
  knowledge: "K.md",
  "fallback-model": "opus",
  fallback: "claude:opus,claude:a/b:c",
  rotate: ["claude:opus", "claude"],
  escalate: "opus,claude:fable",
  review: "look twice",
  "review-agent": "claude:opus",
  "native-goal": true,
  "user-settings": true,
  context: "fresh",
  "context-limit": "50k",
  tools: ["Read,Bash"],
  "agent-max-turns": "7",
  permissions: "plan",
  plugin: ["p"],
  mcp: ["m.json"],
  effort: "low",
  "agent-bin": "/bin/true",
  "agent-server": "http://127.0.0.1:4096",
  home: "user",
  env: ["LANG"],
  "idle-timeout": "5m",
  "turn-timeout": "10m",
  "on-permission": "ask",
  questions: "ask",
  "answer-timeout": "5m",
  "on-errors": "pause",
  "allow-dirty": true,
  "at-end": "last",
  fence: "bwrap",
  network: "open",
  "allow-host": ["example.test"],
  "check-timeout": "5m",
  "task-promise": "NEXT",
  "task-min-iterations": "2",
  template: templateOf("do {{goal}}"),
  agent: "codex",
  "agent-args": ["--x"],
  "completion-grace": "5s",
  commit: "none",
  branch: "pawl/other",
  "max-memory": "1G",
  "max-processes": "7",
  "max-file-size": "1M",
  executor: "claude",
  language: "python",
  history: "full",
  "request-tokens": "5k",
  repeats: "3",
  parallel: "5",
  "step-tries": "9",
  "code-time": "7s",
  "code-memory": "7M",
  "code-processes": "7",
  "code-disk": "8M",
  "code-output": "9k",
};
/** Without which it would say nothing. */
const NEEDED: Record<string, Flags> = {
  "until-green": { checks: ["true"] },
  "check-timeout": { checks: ["true"] },
  "task-promise": { tasks: "T.md" },
  "task-min-iterations": { tasks: "T.md" },
};

describe("a flag given to a run that goes on", () => {
  it("can be compared for every setting that has one and may not change", () => {
    const missing = SETTING_NAMES.filter(
      (name) => flagOf(name) !== null && !MAY_CHANGE.test(name) && !COMPARABLE.has(name),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(OTHER).toSorted()).toEqual([...COMPARABLE].toSorted());
  });

  it.each(Object.entries(OTHER))("%s is accepted where the run has the same, and refused where not", (name, value) => {
    const given = { [name]: value } as Flags;
    const needed = NEEDED[name] ?? {};
    expect(() => compare(given, { ...needed, ...given })).not.toThrow();
    if (name === "env") expect(() => compare({ env: ["NOPE"] }, {})).toThrow(/--env "NOPE" differs/);
    else expect(() => compare(given, needed)).toThrow(/ differs: the run has /);
  });

  it("is refused naming both values", () => {
    expect(() => compare({ checks: ["npm test"] }, { checks: ["npm run test"] })).toThrow(
      '--check "npm test" differs: the run has "npm run test"',
    );
    expect(() => compare({ context: "fresh" }, {})).toThrow('--context "fresh" differs: the run has "auto"');
    expect(() => compare({ tasks: "T.md" }, {})).toThrow('--tasks "T.md" differs: the run has none');
    expect(() => compare({ checks: ["npm test"] }, {})).toThrow('--check "npm test" differs: the run has none');
    expect(() => compare({ commit: "none" }, {})).toThrow("--no-commit differs: the run has a branch of its own");
    expect(() => compare({ template: "/no/such/file" }, {})).toThrow(
      '--template "/no/such/file" differs: the run has none',
    );
    expect(() => compare({ template: templateOf("a") }, { template: templateOf("b") })).toThrow(
      /--template ".*" differs: the run has "another text"/,
    );
  });

  it("takes `auto` for the fence that the run has, and knows what the network was", () => {
    expect(() => compare({ fence: "auto" }, { fence: "bwrap" })).not.toThrow();
    expect(() => compare({ fence: "none" }, { fence: "bwrap" })).toThrow('--fence "none" differs: the run has "bwrap"');
    expect(() => compare({ network: "registries" }, { network: "registries" })).not.toThrow();
    expect(() => compare({ network: "registries" }, { "allow-host": ["pypi.org"] })).toThrow(/has "off"/);
    expect(() => compare({ network: "off" }, { network: "registries" })).toThrow(/has "registries"/);
    expect(() => compare({ "allow-host": ["a.test"] }, { "allow-host": ["a.test", "b.test"] })).not.toThrow();
  });

  it("says the same in other words: a name, a unit", () => {
    expect(() => compare({ "turn-timeout": "3600s" }, { "turn-timeout": "1h" })).not.toThrow();
    expect(() => compare({ checks: ["a=x", "b=y"] }, { checks: ["a=x", "b=y"], "check-timeout": "1m" })).not.toThrow();
    expect(() => compare({ checks: ["b=y", "a=x"] }, { checks: ["a=x", "b=y"] })).toThrow(/differs/);
  });
});
