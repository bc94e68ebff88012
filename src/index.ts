/** pawl as a library: `run` is all most programs need; below it the parts it is made of. Every name is explicit. */
export { run, type CheckSetting, type RunOptions } from "./views/library/run.ts";
export { solve, type SolveEnd, type SolveHandle, type SolveOptions } from "./views/library/solve.ts";
export { open, resume, type ResumeOptions, type RunView } from "./views/library/resume.ts";
export type { DriveParts, RunEnd, RunHandle } from "./views/library/handle.ts";
export type { IterationAnswer, IterationState, OnIteration } from "./views/library/iteration.ts";
export type { Judged, OwnCheck } from "./views/library/own-check.ts";
export type { CommandSettings, RunSettings } from "./views/library/settings.ts";

export { drive, type DriveOptions } from "./loop/drive.ts";
export { fold } from "./loop/fold.ts";
export type { RunState } from "./loop/state.ts";
export { runRecipe } from "./recipes/run.ts";
export { solveRecipe } from "./recipes/solve.ts";
export type { Action, PromptContext, PromptPart, Recipe, TurnAction } from "./loop/actions.ts";

export { composeForRun, openDriverState, openState, type Composed, type State } from "./compose.ts";
export { resolveSettings, type Resolved } from "./config.ts";
export { toRunSpec } from "./config/run-spec.ts";
export { openJournal, type JournalHandle, type JournalOptions } from "./journal/open.ts";
export { makeRedact } from "./journal/redact.ts";
export { openWorkspace } from "./workspace/open.ts";
export { commandCheck } from "./checks/command.ts";
export { claude } from "./agents/claude.ts";
export { messages } from "./agents/messages.ts";
export { scripted, type ScriptedAnswer, type ScriptedFunction, type ScriptedStep } from "./agents/scripted.ts";
export { startStandin, type Standin, type StandinOptions } from "./standin/server.ts";
export { loadScript, type Script, type Step } from "./standin/script.ts";
export { systemClock } from "./platform/clock.ts";

export { EXIT, exitCodeOf, RetryableError, TerminalError, UsageError } from "./errors.ts";
export {
  factSchema,
  type Directive,
  type Evidence,
  type Fact,
  type FactOf,
  type NewFact,
  type Outcome,
  type Usage,
  type Verdict,
} from "./events.ts";
export {
  runSpecSchema,
  type AgentSpec,
  type CheckSpec,
  type Limits,
  type RunSpec,
  type WorkspaceSpec,
} from "./spec.ts";
export type { Code, Execution, ExecutionEnd, ExecutionLimits, Executor } from "./ports/executor.ts";
export type {
  Agent,
  AgentEvent,
  AgentSession,
  Base,
  Blobs,
  Check,
  Clock,
  Inbox,
  Journal,
  OpenRequest,
  Owner,
  Ports,
  Receipt,
  Redact,
  Snapshot,
  Trace,
  TurnEnd,
  TurnRequest,
  VerifyTree,
  Workspace,
} from "./ports.ts";
