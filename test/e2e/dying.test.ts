/** Agents that die, hang or ignore every signal, through the built command line: the run always comes to an end (F2). */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cliPlace } from "../support/cli.ts";
import { countOf, figure } from "../support/figure.ts";
import { processesWith, taggedProcesses } from "../support/processes.ts";
import { tempDir, waitFor } from "../support/temp.ts";

const EACH = countOf("PAWL_TEST_DEATHS", 2);
const IDLE_MS = 1_000;
/** Where it has to get something done before: started in a fence on a busy machine, it takes its time. */
const BUSY_IDLE_MS = 15_000;

const DEAF = "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {});";
/** Stands for a word that no other process was started with. */
const MARK = "THE_CHILD";
const DEAF_CHILD = `(await import("node:child_process")).spawn("sh", ["-c", "trap '' TERM HUP INT; while :; do sleep 1; done", "${MARK}"], { stdio: "inherit", detached: true });`;

/** What a program in the place of Claude Code does with its prompt; before, it answers as the SDK expects. And its end. */
const KINDS: Readonly<Record<string, { act: string; ends: object; idleMs: number }>> = {
  "exits with 137": {
    act: "process.exit(137);",
    ends: { is: "cut", reason: expect.stringContaining("code 137") },
    idleMs: BUSY_IDLE_MS,
  },
  "is killed": {
    act: "process.kill(process.pid, 'SIGKILL');",
    ends: { is: "cut", reason: expect.stringMatching(/SIGKILL|137/) },
    idleMs: BUSY_IDLE_MS,
  },
  "never answers": { act: "return;", ends: { is: "timeout" }, idleMs: IDLE_MS },
  "ignores SIGTERM and never answers": { act: DEAF, ends: { is: "timeout" }, idleMs: IDLE_MS },
  "ignores SIGTERM, with a deaf child": { act: DEAF + DEAF_CHILD, ends: { is: "timeout" }, idleMs: BUSY_IDLE_MS },
};

function program(onPrompt: string): string {
  const path = join(tempDir("dying"), "claude.mjs");
  writeFileSync(
    path,
    `import { createInterface } from "node:readline";
     const say = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
     const onPrompt = async () => { ${onPrompt} };
     setInterval(() => {}, 1000);
     for await (const line of createInterface({ input: process.stdin })) {
       const { type, request_id } = JSON.parse(line);
       if (type === "control_request") say({ type: "control_response", response: { subtype: "success", request_id, response: {} } });
       if (type === "user") await onPrompt();
     }`,
    { mode: 0o755 },
  );
  return path;
}

const cases = Array.from({ length: EACH }, (_, n) =>
  Object.entries(KINDS).map(([kind, how]) => ({ kind, ...how, n })),
).flat();
const overDeadlineMs: number[] = [];

describe("an agent that", () => {
  it.concurrent.for(cases)(
    "$kind ($n): its turn is a failure in the journal, the run ends, nothing of it is left (F2)",
    async ({ act, ends, idleMs }, { expect }) => {
      const place = await cliPlace({ env: { ANTHROPIC_API_KEY: "none-is-asked-for" } });
      const mark = randomUUID();
      const args = [
        "run",
        "go",
        "--agent-bin",
        program(act.replace(MARK, mark)),
        "--idle-timeout",
        `${idleMs}ms`,
        "--max-errors",
        "1",
        "--json",
      ];
      const started = place.start(args);
      if (act.includes(MARK)) await waitFor(() => processesWith([mark]).length > 0, { what: "the deaf child" });
      const result = await started.done;
      expect(result.of("run-end").map(({ outcome }) => `${outcome.is} ${outcome.rule}`)).toEqual([
        "failed agent:errors",
      ]);
      expect(result.code).toBe(5);
      const [end, ...more] = result.of("turn-end");
      expect(more).toEqual([]);
      expect(end?.outcome).toMatchObject(ends);
      expect([taggedProcesses("PAWL_RUN", result.facts()[0]?.run ?? ""), processesWith([mark])]).toEqual([[], []]);
      overDeadlineMs.push(Math.round((end?.durationMs ?? 0) - idleMs));
    },
  );
});

afterAll(() =>
  figure("F2", {
    runs: cases.length,
    kinds: Object.keys(KINDS).length,
    mostOverDeadlineMs: Math.max(...overDeadlineMs),
  }),
);
