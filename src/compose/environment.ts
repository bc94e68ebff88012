/**
 * The environment of a run's agent and checks: frozen at the start so that a run driven again sees the same, without
 * ever writing a secret down. A value that is one, or that a person asked for by name, is frozen as the empty text and
 * taken from the environment of whoever drives.
 */
import { mkdirSync } from "node:fs";
import { allowedEnvironment, RUN_TAG } from "../platform/environment.ts";
import type { Redact } from "../ports.ts";
import { lookUp } from "../platform/look-up.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const TAKEN_FROM_DRIVER = "";

interface Wanted {
  /** Names a person asked for. */
  add: readonly string[];
  home: "private" | "user";
  redact: Redact;
}

export function freezeEnvironment(env: Environment, { add, home, redact }: Wanted): Record<string, string> {
  const isPrivate = home === "private" && !add.includes("HOME");
  const allowed = allowedEnvironment(env, { run: "", add, ...(isPrivate ? { home: "/" } : {}) });
  const kept = Object.entries(allowed).filter(([name]) => name !== RUN_TAG && !(isPrivate && name === "HOME"));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const isOpen =
        !add.includes(name) && redact(value) === value && redact(`${name}=${value}`) === `${name}=${value}`;
      return [name, isOpen ? value : TAKEN_FROM_DRIVER];
    }),
  );
}

interface Thawed {
  env: Environment;
  run: string;
  /** HOME, unless the user's own was asked for. Made here. undefined: leave it out, make nothing. */
  home: string | undefined;
}

export function thawEnvironment(
  frozen: Readonly<Record<string, string>>,
  { env, run, home }: Thawed,
): Record<string, string> {
  const values = Object.entries(frozen).flatMap(([name, value]): [string, string][] => {
    const own = value === TAKEN_FROM_DRIVER ? lookUp(env, name) : value;
    return own === undefined ? [] : [[name, own]];
  });
  const thawed = Object.fromEntries(values);
  if (thawed["HOME"] !== undefined || home === undefined) return { ...thawed, [RUN_TAG]: run };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return { ...thawed, HOME: home, [RUN_TAG]: run };
}
