/** The longest files first, so that none of them is left alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** By how long they take, from `npm test` on two cores; on a fresh machine nobody has measured yet. */
const SLOW = [
  "test/e2e/cheats",
  "test/e2e/kill",
  "test/e2e/faults",
  "test/e2e/run",
  "src/agents/acp",
  "test/e2e/honest",
  "test/e2e/places",
  "test/e2e/questions",
  "test/e2e/claims",
  "test/e2e/tasks",
  "test/e2e/verify",
  "src/agents/claude",
  "test/e2e/power",
  "test/e2e/hooks",
  "test/e2e/ralph",
  "test/e2e/errors",
  "test/e2e/kinds",
  "src/agents/codex",
  "src/agents/opencode",
  "src/agents/command",
  "test/e2e/ralph-defects",
  "test/e2e/agent-opencode",
  "test/e2e/protected",
  "test/e2e/bad-input",
  "test/e2e/red-team",
  "test/e2e/prompts",
  "src/agents/opencode/real",
  "src/agents/claude/real",
  "test/e2e/mixing",
  "test/e2e/examples",
  "src/workspace/crash",
  "test/e2e/start",
  "test/e2e/fenced-run",
  "test/e2e/eight-runs",
  "src/agents/claude/gateway",
  "src/workspace/agent-git",
  "src/views/library/library",
  "src/agents/codex/real",
  "test/e2e/agent-codex",
  "test/e2e/agent-command",
  "test/e2e/isolation",
  "test/e2e/reopen",
  "test/e2e/steering",
  "test/e2e/demo",
  "test/e2e/tools",
  "test/e2e/agent-acp",
  "test/e2e/egress",
  "test/e2e/fenced",
  "src/checks/runners/real",
  "src/compose/dependencies",
  "test/e2e/check-places",
  "test/e2e/asking",
  "src/agents/acp/real",
  "test/e2e/check",
];
const place = ({ moduleId }: TestSpecification): number => {
  const at = SLOW.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return at === -1 ? SLOW.length : at;
};

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => place(one) - place(other));
  }
}
