/** Which languages generated code can be run in here. Missing ones are no failure: only `pawl solve` asks for them. */
import { basename } from "node:path";
import type { Environment } from "../../compose.ts";
import { interpreterOf } from "../../executors/local/interpreters.ts";
import type { Language } from "../../ports/executor.ts";
import type { Finding } from "./doctor-checks.ts";
import { versionOf } from "./doctor-version.ts";

/** Of those that one program runs, the first. */
const ASKED: readonly Language[] = ["python", "javascript", "shell"];
const NAMES: Readonly<Partial<Record<Language, string>>> = { javascript: "javascript and typescript" };
/** Nothing is run within it here. */
const ANY_MEMORY_BYTES = 1024 ** 3;

export async function executorsFinding(env: Environment): Promise<Finding[]> {
  const name = "code";
  const looked = await Promise.all(ASKED.map((language) => look(language, env)));
  const missing = looked.flatMap(({ fix }) => (fix === undefined ? [] : [fix]));
  const says = looked.map(({ words }) => words).join(", ");
  if (missing.length === 0) return [{ name, is: "ok", says }];
  return [{ name, is: "warn", says, fix: missing.join("; ") }];
}

async function look(language: Language, env: Environment): Promise<{ words: string; fix?: string }> {
  const found = interpreterOf(language, { path: env["PATH"] ?? "", memoryBytes: ANY_MEMORY_BYTES });
  const title = NAMES[language] ?? language;
  if ("missing" in found) return { words: `${title}: none`, fix: found.missing };
  // Not every shell knows its version.
  if (language === "shell") return { words: basename(found.command) };
  const said = await versionOf(found.command, { args: ["--version"], env });
  if (said === undefined) return { words: `${title}: does not start`, fix: `${found.command} --version says why` };
  return { words: `${title} ${/\d+(\.\d+)+/.exec(said)?.[0] ?? ""}`.trim() };
}
