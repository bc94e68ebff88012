/** Baseline, verdicts and control of a whole run: the real journal, workspace and command, and an agent that follows a script. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../../test/fixtures/repository.ts";
import { USUAL } from "../../test/support/judging.ts";
import { plainSpec } from "../../test/support/spec.ts";
import { tempDir } from "../../test/support/temp.ts";
import { scripted, type ScriptedStep } from "../agents/scripted.ts";
import { composeForRun, openDriverState } from "../compose.ts";
import type { Fact, FactOf } from "../events.ts";
import { drive } from "../loop/drive.ts";
import type { RunState } from "../loop/state.ts";
import { runRecipe } from "../recipes/run.ts";
import type { RunSpec } from "../spec.ts";

const DONE = "<promise>COMPLETE</promise>";
const TEST =
  'import { test } from "node:test";\nimport { equal } from "node:assert";\nimport { one } from "./one.mjs";\n' +
  'test("one", () => equal(one, 1));\n';
const BASE = { "one.mjs": "export const one = 1;\n", "one.test.mjs": TEST };

async function drivenRun(
  steps: readonly ScriptedStep[],
  { files = BASE, over = {} }: { files?: Readonly<Record<string, string>>; over?: Partial<RunSpec> } = {},
): Promise<{ end: RunState; facts: Fact[] }> {
  const place = scratch();
  for (const [path, text] of Object.entries(files)) place.write(path, text);
  place.git("add", "-A");
  place.git("commit", "-qm", "base");
  const env = { ...place.environment, PAWL_HOME: place.stateDir };
  const state = await openDriverState(env);
  const plain = plainSpec(place.repo);
  const command = `${JSON.stringify(process.execPath)} --test`;
  const spec: RunSpec = {
    ...plain,
    workspace: { ...plain.workspace, branch: "pawl/x" },
    environment: { PATH: place.environment["PATH"] ?? "" },
    checks: [{ name: "tests", kind: "command", command, required: true, timeoutMs: 150_000 }],
    protect: { ...plain.protect, tests: ["**/*.test.mjs"] },
    verdicts: { ...USUAL, passes: 3 },
    limits: { iterations: 3 },
    ...over,
  };
  const [commit, tree] = [place.git("rev-parse", "HEAD"), place.git("rev-parse", "HEAD^{tree}")];
  const base = { commit, tree, branch: "main", detached: false };
  await state.journal.create(
    spec.run,
    { type: "run-start", spec, pawl: "test", base },
    {
      repository: place.repo,
      goal: spec.goal,
    },
  );
  const composed = await composeForRun({ run: spec.run, env, state, agents: { scripted: scripted(steps) } });
  try {
    const { signal } = new AbortController();
    const end = await drive({ run: spec.run, recipe: runRecipe, ports: composed.ports, signal });
    return { end, facts: await state.journal.read(spec.run) };
  } finally {
    await composed.close();
    state.close();
    place.remove();
  }
}

const verdictsOf = (facts: readonly Fact[]): FactOf<"check-end">["verdict"][] =>
  facts.flatMap((fact) => (fact.type === "check-end" ? [fact.verdict] : []));

describe("a whole run", () => {
  it("judges the base beside the first turn, the change after it, and sees what it plants before it ends", async () => {
    const two = { "two.mjs": "export const two = 2;\n" };
    const { end, facts } = await drivenRun([{ files: two, text: DONE, usage: { requests: 1, toolCalls: 1 } }]);
    expect(end.outcome).toMatchObject({ is: "verified" });
    expect(facts.flatMap((f) => (f.type === "baseline-recorded" ? [f.verdict.is] : []))).toEqual(["pass"]);
    expect(verdictsOf(facts).at(-1)).toMatchObject({ is: "pass", evidence: { control: "seen", suspicions: [] } });
  });

  it("is never verified where product code ends the tests early", async () => {
    const forged = { "one.mjs": "export const one = 2;\nprocess.exit(0);\n" };
    const { end, facts } = await drivenRun([{ files: forged, text: DONE, usage: { requests: 1, toolCalls: 1 } }]);
    expect(end.outcome?.is).not.toBe("verified");
    const last = verdictsOf(facts).at(-1);
    expect(last?.is === "fail" || (last?.is === "pass" && last.evidence.control === "not-seen")).toBe(true);
  });

  it("tells a flaky test by running it again, and then asks for three passes in a row", async () => {
    const shaky =
      'import { test } from "node:test";\nimport { mkdirSync } from "node:fs";\nimport { place } from "./place.mjs";\n' +
      'test("shaky", () => {\n  if (place === "") return;\n' +
      '  try {\n    mkdirSync(place);\n  } catch {\n    return;\n  }\n  throw new Error("the first time");\n});\n';
    const files = { "place.mjs": 'export const place = "";\n', "shaky.test.mjs": shaky };
    const once = JSON.stringify(join(tempDir("shaky"), "seen"));
    const change = { "place.mjs": `export const place = ${once};\n` };
    const { end, facts } = await drivenRun([{ files: change, text: DONE, usage: { requests: 1, toolCalls: 1 } }], {
      files,
      over: { verdicts: { ...USUAL, passes: 3 } },
    });
    expect(verdictsOf(facts)[0]).toMatchObject({ is: "flaky", runs: 2 });
    expect(verdictsOf(facts)[1]).toMatchObject({ is: "pass", evidence: { runs: 3 } });
    expect(end.outcome?.is).toBe("verified");
  });
});
