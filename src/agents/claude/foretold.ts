/**
 * What the SDK will ask pawl to start, known from the last time that it got the same options: loading it takes as long as
 * everything else before the agent's program is started. What it then really asks for is compared, to the letter; the
 * program is started anew when it differs.
 */
import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Options, SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { kept } from "../../platform/kept.ts";
import { isOpening, type Opening } from "./opening.ts";
import { isSdkLoaded, sdkFile } from "./sdk.ts";

export interface Asked {
  command: string;
  args: string[];
  cwd: string | undefined;
  env: SpawnOptions["env"];
}

interface Remembered {
  command: string;
  args: string[];
  /** What differs from the environment that pawl gave; null: it was taken out. */
  env: Record<string, string | null>;
  opening?: Opening;
}

export interface Foretold {
  /** undefined: these options are new, or what was kept is of no use. */
  readonly asked: Asked | undefined;
  /** What it will say first; undefined: not known, or of no use because it is loaded already. */
  readonly opening: Opening | undefined;
  /** What it is told to add to the system prompt. */
  readonly append: string;
  /** For the next time. */
  learn(asked: Asked, opening?: Opening): void;
}

const NOTHING: Foretold = { asked: undefined, opening: undefined, append: "", learn: () => undefined };

/** `program`: what is to be started and nothing else, whatever was kept. */
export function foretold(options: Options, { program }: { program: string | undefined }): Foretold {
  const sdk = sdkMark();
  if (program === undefined || sdk === undefined) return NOTHING;
  const { env = {}, cwd = "", sessionId, resume, systemPrompt, ...rest } = options;
  const session = sessionId ?? resume ?? "";
  // Only one of them: what a fork is made from is never the same twice.
  if ((sessionId === undefined) === (resume === undefined)) return NOTHING;
  const place = kept("claude-start", [sdk, program, sessionId === undefined, rest]);
  const read = place.read();
  const found = isRemembered(read) && read.command === program ? read : undefined;
  const append = appended(systemPrompt);
  return {
    asked: found === undefined ? undefined : recalled(found, { env, cwd, session }),
    opening: append === undefined || isSdkLoaded() || !isOpening(found?.opening) ? undefined : found.opening,
    append: append ?? "",
    learn({ command, args, env: asked }, opening) {
      const remembered: Remembered = {
        command,
        args: args.map((arg) => arg.replaceAll(session, SESSION)),
        env: difference(env, asked),
        ...(opening === undefined || append === undefined ? {} : { opening }),
      };
      if (!isDeepStrictEqual(remembered, found)) place.keep(remembered);
    },
  };
}

/** undefined: it is told something else than what to add. */
const appended = (prompt: Options["systemPrompt"]): string | undefined =>
  typeof prompt === "object" && "append" in prompt ? prompt.append : undefined;

/** Stands for the one thing in the arguments that is new each time. */
const SESSION = "\0session\0";

export function isSame(one: Asked, { command, args, cwd, env }: Asked): boolean {
  return isDeepStrictEqual([one.command, one.args, one.cwd, present(one.env)], [command, args, cwd, present(env)]);
}

function recalled(
  { command, args, env: changed }: Remembered,
  { env, cwd, session }: { env: SpawnOptions["env"]; cwd: string; session: string },
): Asked {
  const changes = Object.entries(changed).map(([name, value]) => [name, value ?? undefined]);
  return {
    command,
    args: args.map((arg) => arg.replaceAll(SESSION, session)),
    cwd,
    env: present({ ...env, ...(Object.fromEntries(changes) as SpawnOptions["env"]) }),
  };
}

function difference(given: SpawnOptions["env"], asked: SpawnOptions["env"]): Record<string, string | null> {
  const names = new Set([...Object.keys(given), ...Object.keys(asked)]);
  const changed = [...names].filter((name) => given[name] !== asked[name]);
  return Object.fromEntries(changed.map((name) => [name, asked[name] ?? null]));
}

const present = (env: SpawnOptions["env"]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

function isRemembered(found: unknown): found is Remembered {
  const { command, args, env } = (found ?? {}) as Partial<Remembered>;
  const isText = (value: unknown): boolean => typeof value === "string";
  return (
    isText(command) &&
    Array.isArray(args) &&
    args.every(isText) &&
    typeof env === "object" &&
    Object.values(env).every((value) => value === null || isText(value))
  );
}

/** Another SDK asks otherwise. */
function sdkMark(): unknown {
  const file = sdkFile();
  if (file === undefined) return undefined;
  const { mtimeMs, size } = statSync(file);
  return [file, mtimeMs, size];
}
