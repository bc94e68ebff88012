/**
 * Where pawl keeps things. State (journal, blobs, private repositories, agents' homes) is outside every workspace, so
 * that an agent's tree never contains its own judge.
 */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { UsageError } from "../errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `$PAWL_HOME`, else `$XDG_STATE_HOME/pawl`, else `~/.local/state/pawl`. */
export function stateDir(env: Environment): string {
  return absolute(env, "PAWL_HOME") ?? join(absolute(env, "XDG_STATE_HOME") ?? join(home(env), ".local/state"), "pawl");
}

/** Settings a person writes: `$XDG_CONFIG_HOME/pawl`, else `~/.config/pawl`. */
export function configDir(env: Environment): string {
  return join(absolute(env, "XDG_CONFIG_HOME") ?? join(home(env), ".config"), "pawl");
}

/** Everything of one run that is not in the journal, the blobs or the private repository. */
export function runDir(stateDir: string, run: string): string {
  return join(stateDir, "runs", segment(run));
}

/** The folder of a run's own repository, in the run's folder. */
export const SCRATCH = "scratch";

/** Private to one lane's agent: its config folder, session files, temporary files. */
export function agentHome(stateDir: string, { run, lane }: { run: string; lane: string }): string {
  return join(runDir(stateDir, run), "agents", segment(lane));
}

function home(env: Environment): string {
  return absolute(env, "HOME") ?? homedir();
}

function absolute(env: Environment, name: string): string | undefined {
  const value = env[name];
  if (value === undefined || value === "") return undefined;
  if (isAbsolute(value)) return value;
  throw new UsageError(`${name} is a relative path: ${value}`, { hint: `Set ${name} to an absolute path.` });
}

/** Run ids and lane names become folder names; they may come from a command line. */
function segment(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw new UsageError(`not a run or lane name: ${JSON.stringify(name)}`, {
    hint: "Names are letters, digits, dots, dashes and underscores. `pawl runs` lists the runs.",
  });
}

/** Of agents that review: nothing of those whose work it is. `of`: the run's own folder. */
export function reviewHome(of: string): string {
  return join(of, "review-home");
}

/** Where models that judge have their sessions: out of the working agent's reach. `of`: the run's own folder. */
export function judgeHome(of: string): string {
  return join(of, "judge-home");
}
