/** The commands: one line each, and the module that is loaded when it is asked for. */
import type { Command } from "commander";

export interface CommandModule {
  /** Adds options, arguments, examples and the action; the action reports the exit code by `exit`. */
  configure(command: Command, exit: (code: number) => void): void;
}

interface Entry {
  summary: string;
  load: () => Promise<CommandModule>;
}

/** Those that may drive a run for hours. */
export const DRIVING: ReadonlySet<string> = new Set(["run", "solve", "resume", "fork", "demo"]);

export const COMMANDS = {
  run: { summary: "drive an agent towards a goal until checks prove it", load: () => import("./commands/run.ts") },
  solve: {
    summary: "answer a question by code that is written, run and judged",
    load: () => import("./commands/solve.ts"),
  },
  resume: {
    summary: "go on with a run: un-pause it, drive it again, or reopen it",
    load: () => import("./commands/resume.ts"),
  },
  watch: { summary: "follow a run live, from any terminal", load: () => import("./commands/watch.ts") },
  status: { summary: "where a run is", load: () => import("./commands/status.ts") },
  runs: { summary: "all runs; clear what old ones keep", load: () => import("./commands/runs.ts") },
  logs: { summary: "what the agent said and did, and the facts", load: () => import("./commands/logs.ts") },
  show: { summary: "one iteration: prompt, verdicts, decision, diff", load: () => import("./commands/show.ts") },
  diff: { summary: "what a run changed", load: () => import("./commands/diff.ts") },
  steer: {
    summary: "say something to the agent, now or in the next prompt",
    load: () => import("./commands/steer.ts"),
  },
  answer: {
    summary: "answer what waits for a person, or list it",
    load: () => import("./commands/answer.ts"),
  },
  interrupt: { summary: "end the running turn; the run goes on", load: () => import("./commands/interrupt.ts") },
  pause: { summary: "start no new turn", load: () => import("./commands/pause.ts") },
  stop: { summary: "end a run after this iteration, or now", load: () => import("./commands/stop.ts") },
  model: { summary: "switch the model of a live run", load: () => import("./commands/model.ts") },
  budget: { summary: "change the limits of a live run", load: () => import("./commands/budget.ts") },
  tasks: {
    summary: "the task list of a run: list, add, remove, done, skip",
    load: () => import("./commands/tasks.ts"),
  },
  check: {
    summary: "run the checks on the tree as it is now, without an agent",
    load: () => import("./commands/check.ts"),
  },
  verify: {
    summary: "run a run's evidence again and compare it with the record",
    load: () => import("./commands/verify.ts"),
  },
  restore: { summary: "put a snapshot or salvaged work back", load: () => import("./commands/restore.ts") },
  fork: { summary: "a new run from a snapshot of another", load: () => import("./commands/fork.ts") },
  worktrees: { summary: "list or clean pawl's worktrees", load: () => import("./commands/worktrees.ts") },
  memory: { summary: "what has failed: list, show, pin, clear", load: () => import("./commands/memory.ts") },
  doctor: { summary: "check that everything pawl needs is here", load: () => import("./commands/doctor.ts") },
  config: { summary: "the settings and where each comes from", load: () => import("./commands/config.ts") },
  init: { summary: "write a pawl.yaml for this repository", load: () => import("./commands/init.ts") },
  completion: {
    summary: "completion of commands, flags and runs for your shell",
    load: () => import("./commands/completion.ts"),
  },
  standin: { summary: "serve a scripted model on loopback", load: () => import("./commands/standin.ts") },
  demo: { summary: "the whole thing in a minute, on a scripted model", load: () => import("./commands/demo.ts") },
} satisfies Record<string, Entry>;
