/**
 * Names from outside that every object answers to (`toString`, `constructor`, `__proto__`): of assertions, tests, files,
 * checks, scripts and agents. They mean what any other name means, and nothing breaks on them.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answersOf } from "../../src/agents/acp/ask-words.ts";
import { claudeOptions } from "../../src/agents/claude/options.ts";
import { readMcpFiles } from "../../src/agents/mcp-files.ts";
import { languageOf } from "../../src/checks/guard/languages.ts";
import { isOneRunner } from "../../src/checks/one-runner.ts";
import { writtenReport } from "../../src/checks/report/written.ts";
import { missingTests, parseStatuses } from "../../src/checks/tests-missing.ts";
import { whatJudges } from "../../src/config/protect/commands.ts";
import { agentNamed } from "../../src/compose/agents.ts";
import { redBefore } from "../../src/loop/pre-existing.ts";
import { plantIn } from "../../src/workspace/plant.ts";
import { mergedJson } from "../../src/workspace/protected-json.ts";
import { aCheck, judgedBy, judgedSpec, verdictFrom } from "../support/judging.ts";
import { live } from "../support/live.ts";
import { tempDir } from "../support/temp.ts";
import { makeWorld, PLANTED } from "../support/world.ts";

/** Names that every plain object answers to, though nobody put them there. */
const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype);

describe.each(PROTOTYPE_NAMES)("the name %s", (name) => {
  it("in a test file is no assertion that is known", () => {
    const uses = [`n.${name}()`, `expect(a).${name}(1)`, `assert.${name}(1)`, `self.${name}(1)`, `a.to.${name}`];
    const script = `import { ${name} } from "node:assert";\nit("x", () => { ${uses.join(";")} })`;
    const planted = plantIn("a.test.ts", script, { seed: "s", as: "test" });
    expect(planted?.slice(script.length)).toMatch(/^\n;it\("\w+",\(\)=>\{let n=0;throw new Error\(n===0/);
    const python = `import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.${name}(1)\n`;
    expect(plantIn("test_a.py", python, { seed: "s", as: "test" })?.slice(python.length)).not.toContain("try:");
  });

  it("of a test is kept, and missed when it is gone", () => {
    const assertionResults = [{ ancestorTitles: [], title: name, status: "passed" }];
    const text = JSON.stringify({ testResults: [{ name: "/v/a.test.ts", status: "passed", assertionResults }] });
    const { tests } = writtenReport(text, { roots: ["/v"] }) ?? { tests: new Map() };
    expect([...tests]).toEqual([[`a.test.ts > ${name}`, "pass"]]);
    const named = parseStatuses(JSON.stringify(Object.fromEntries([[name, "pass"]])));
    expect([...(named ?? [])]).toEqual([[name, "pass"]]);
    expect(missingTests({ baseline: named ?? new Map(), now: new Map() }).failures).toHaveLength(1);
  });

  it("of a test's status is one that is not known", () => {
    const assertionResults = [{ ancestorTitles: [], title: "a", status: name }];
    const text = JSON.stringify({ testResults: [{ name: "/v/a.test.ts", status: "passed", assertionResults }] });
    expect([...(writtenReport(text, { roots: ["/v"] })?.tests.values() ?? [])]).toEqual(["skip"]);
  });

  it("at the end of a file is no language", () => expect(languageOf(`src/a.${name}`)).toBeUndefined());

  it("of a script that package.json lacks is no script", async () => {
    const folder = tempDir("names");
    writeFileSync(join(folder, "package.json"), '{"scripts":{"test":"vitest"}}');
    expect(await isOneRunner(`npm run ${name}`, folder)).toBe(false);
    const read = (path: string): string | undefined => (path === "package.json" ? '{"scripts":{}}' : undefined);
    const project = { names: new Set<string>(), manifests: [], read, holds: () => false, list: () => [] };
    expect(whatJudges([`npm ${name}`], project)).toMatchObject({ text: `npm ${name}`, files: [] });
  });

  it("of a script in package.json is protected like any other", () => {
    const base = JSON.stringify({ scripts: Object.fromEntries([[name, "vitest"]]) });
    expect(mergedJson('{"scripts":{}}', base, ["scripts"])).toEqual({ is: "base" });
    expect(mergedJson(base, base, ["scripts"])).toEqual({ is: "same" });
  });

  it("of a check: its run ends as any other does", async () => {
    const spec = judgedSpec({}, { checks: [aCheck(name)] });
    const world = makeWorld();
    world.plants = true;
    const adjust = judgedBy(world, spec, ({ lines }) => (lines.includes(PLANTED) ? ["plant"] : []));
    const acts = [{ lines: ["a"], claim: true, faults: [], usd: 0 }];
    expect((await live(world, spec, acts, { adjust })).outcome?.is).toBe("verified");
    const baselines = new Map([[name, verdictFrom("0", ["old"])]]);
    const fork = { run: "r", snapshot: 1, redBefore: {} };
    expect(redBefore({ baselines, spec: { ...spec, fork } as never }, name).size).toBe(0);
  });

  it("of an agent that nobody declared is none", async () => {
    await expect(agentNamed(name, { env: {}, commands: {} })).rejects.toThrow(`there is no agent called ${name}`);
  });

  it("of a server, an option or a question's field is kept as it is", () => {
    const folder = tempDir("names");
    const text = `{"mcpServers":{${JSON.stringify(name)}:{"command":"x"}}}`;
    writeFileSync(join(folder, "mcp.json"), text);
    const about = { workspace: folder, serverOf: (one: string) => one };
    expect(Object.entries(readMcpFiles(["mcp.json"], about))).toEqual([[name, name]]);
    const choice = { field: name, other: undefined, many: false, options: [], values: [] };
    expect(Object.entries(answersOf([choice] as never, () => "said"))).toEqual([[name, "said"]]);
    if (name.startsWith("_")) return;
    expect(claudeOptions({ extra: [`--${name}`, "v"] }).extra).toEqual({ [name]: "v" });
  });
});
