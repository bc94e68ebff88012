/** Tests of the suite with the counts that are too long for it. */
import { runTests, type Part } from "./part.ts";

interface Counted {
  name: string;
  about: string;
  shows: string;
  files: readonly string[];
  /** Count by name, and the variable that tells the test. */
  counts: Readonly<Record<string, readonly [number, string]>>;
  env?: Readonly<Record<string, string>>;
}

function counted({ name, about, shows, files, counts, env = {} }: Counted): Part {
  return {
    name,
    about,
    shows,
    counts: Object.fromEntries(Object.entries(counts).map(([count, [usual]]) => [count, usual])),
    run: (given) => {
      const wanted = Object.entries(counts).map(([count, [usual, variable]]) => [
        variable,
        String(given[count] ?? usual),
      ]);
      return runTests(files, { ...(Object.fromEntries(wanted) as Record<string, string>), ...env });
    },
  };
}

/** Each keeps the agent's contract, which has its own points of F15. */
const AGENTS = ["claude", "codex", "opencode", "messages", "acp", "command"];

export const countedParts: readonly Part[] = [
  counted({
    name: "solve",
    about: "problems with real files through `pawl solve`, by both executors, erring first in every class of error",
    shows: "S1",
    files: ["test/e2e/solve-problems.test.ts"],
    counts: { problems: [39, "PAWL_TEST_PROBLEMS"] },
  }),
  counted({
    name: "power",
    about: "the power goes at random moments of a run: whatever was not synced is gone from its disk",
    shows: "F3",
    files: ["test/e2e/power.test.ts"],
    counts: { cuts: [500, "PAWL_TEST_POWER_CUTS"], seed: [11, "PAWL_TEST_SEED"] },
  }),
  counted({
    name: "fence",
    about:
      "the red team's escapes as root, as a user and by the real agent; bombs, and how late the driver is meanwhile",
    shows: "row 16, F11, A5, A12, A13, A16, A17",
    files: ["test/e2e/red-team.test.ts", "test/e2e/fenced.test.ts", "src/platform/fence/limits.test.ts"],
    counts: { rounds: [20, "PAWL_TEST_RED_TEAM"] },
  }),
  counted({
    name: "journal",
    about: "single flipped bits in a journal's file",
    shows: "F5",
    files: ["src/journal/damage.test.ts"],
    counts: { flips: [5_000, "PAWL_TEST_FLIPS"], seed: [7, "PAWL_TEST_SEED"] },
  }),
  counted({
    name: "races",
    about: "eight starters at once on one workspace, after the last owner was killed",
    shows: "F8",
    files: ["src/workspace/lock.test.ts"],
    counts: { races: [100, "PAWL_TEST_RACES"] },
  }),
  counted({
    name: "output",
    about: "floods from a check and from the agent",
    shows: "F13",
    files: ["src/checks/command.test.ts", "src/agents/claude/flood.test.ts"],
    counts: { mb: [1_024, "PAWL_TEST_STREAM_MB"], lineMb: [100, "PAWL_TEST_LINE_MB"] },
  }),
  counted({
    name: "deaths",
    about: "agents that die, hang or ignore every signal",
    shows: "F2",
    files: ["test/e2e/dying.test.ts"],
    counts: { each: [100, "PAWL_TEST_DEATHS"] },
  }),
  counted({
    name: "provider",
    about: "429, 500, 529, error events and cuts at every event of the model's stream",
    shows: "F15",
    files: ["test/e2e/provider.test.ts", ...AGENTS.map((name) => `src/agents/${name}.test.ts`)],
    counts: {},
    env: { PAWL_CAMPAIGN: "full" },
  }),
  counted({
    name: "budgets",
    about: "random streams of usage against limits",
    shows: "F12",
    files: ["test/laws/streams.test.ts"],
    counts: { streams: [1_000, "PAWL_TEST_STREAMS"] },
  }),
  counted({
    name: "growth",
    about: "facts and memory over instant iterations, without git",
    shows: "F18, F20",
    files: ["test/laws/history.test.ts"],
    counts: { iterations: [100_000, "PAWL_TEST_ITERATIONS"] },
    env: { PAWL_TEST_HISTORY_LIMIT_MS: "7200000" },
  }),
  counted({
    name: "leaks",
    about: "memory and open files over instant iterations, with git and a check's process in each",
    shows: "F20",
    files: ["test/laws/history.test.ts"],
    counts: { iterations: [10_000, "PAWL_TEST_ITERATIONS"] },
    env: { PAWL_TEST_HISTORY: "real", PAWL_TEST_HISTORY_LIMIT_MS: "7200000" },
  }),
];
