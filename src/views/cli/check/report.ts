/** What `pawl check` says: verdicts with failures and evidence, and what they come to together. Pure. */
import { EXIT } from "../../../errors.ts";
import type { Verdict } from "../../../events.ts";
import type { Attempt } from "../../../platform/egress.ts";
import type { CheckSpec } from "../../../spec.ts";
import { verdictWords } from "../../fact-words.ts";
import { oneLine } from "../../plain.ts";
import { verdictText } from "../iteration-text.ts";

const MAX_NAME_CHARS = 80;
const MAX_HOSTS = 5;

export interface CheckResult {
  check: Pick<CheckSpec, "name" | "kind" | "command" | "required">;
  verdict: Verdict;
  /** The whole output, where it was asked for. */
  log?: string;
}

/** `pass`: every required check passes; `unjudged`: one could not be judged, and none is red. */
export type Stand = "pass" | "fail" | "unjudged";

export function standOf(results: readonly Pick<CheckResult, "check" | "verdict">[]): Stand {
  const required = results.filter(({ check }) => check.required).map(({ verdict }) => verdict.is);
  if (required.some((is) => is === "fail" || is === "flaky")) return "fail";
  return required.every((is) => is === "pass") ? "pass" : "unjudged";
}

export const exitOf = (stand: Stand): number => ({ pass: EXIT.ok, fail: EXIT.unverified, unjudged: EXIT.human })[stand];

/** A pass is one line unless everything was asked for. */
export function resultText({ check, verdict, log }: CheckResult, { verbose }: { verbose: boolean }): string {
  const name = `${oneLine(check.name, { max: MAX_NAME_CHARS })}${check.required ? "" : " (not required)"}`;
  const said =
    verdict.is === "pass" && !verbose
      ? `${name}: ${verdictWords(verdict)}${suspicionWords(verdict)}`
      : verdictText({ check: name, verdict });
  return log === undefined ? said : `${said}\n\n${log.trimEnd()}\n`;
}

function suspicionWords(verdict: Verdict): string {
  const suspicions = "evidence" in verdict ? verdict.evidence.suspicions : [];
  return suspicions.length === 0 ? "" : `; suspicious: ${suspicions.join("; ")}`;
}

export function standText(results: readonly CheckResult[], { attempts }: { attempts: readonly Attempt[] }): string {
  const required = results.filter(({ check }) => check.required);
  const passed = required.filter(({ verdict }) => verdict.is === "pass").length;
  const others = results.length - required.length;
  const lines = [
    `required checks: ${passed} of ${required.length} pass${others === 0 ? "" : `; ${others} not required`}`,
  ];
  const refused = [...new Set(attempts.filter(({ allowed }) => !allowed).map(({ host, port }) => `${host}:${port}`))];
  if (refused.length > 0)
    lines.push(
      `not let through the fence: ${refused.slice(0, MAX_HOSTS).join(", ")}${refused.length > MAX_HOSTS ? ", …" : ""}; --allow-host and --network open it`,
    );
  return lines.join("\n");
}
