import { expect, it } from "vitest";
import { outcomeOf } from "./outcome.ts";
import type { ResultSignal, Signals } from "./outcome.ts";

const LIMIT = "You've hit your";
const done: ResultSignal = { subtype: "success", is_error: false, result: "fine", terminal_reason: "completed" };
const error: ResultSignal = { subtype: "success", is_error: true, result: "API Error: words" };

function outcome(result: Partial<ResultSignal> | undefined, signals: Partial<Signals> = {}) {
  return outcomeOf({
    result: result === undefined ? undefined : { ...done, ...result },
    error: undefined,
    rejected: undefined,
    died: undefined,
    ...signals,
  });
}

it.each([
  ["a success", outcome({}), { is: "done" }],
  ["is_error on success with 401", outcome({ ...error, api_error_status: 401 }), { is: "failed", kind: "login" }],
  [
    "authentication_failed",
    outcome(error, { error: "authentication_failed" }),
    { is: "failed", kind: "login", message: "API Error: words" },
  ],
  ["oauth_org_not_allowed", outcome(error, { error: "oauth_org_not_allowed" }), { is: "failed", kind: "login" }],
  ["cloud_credential_error", outcome(error, { error: "cloud_credential_error" }), { is: "failed", kind: "login" }],
  ["billing_error", outcome(error, { error: "billing_error" }), { is: "failed", kind: "billing" }],
  ["model_not_found", outcome(error, { error: "model_not_found" }), { is: "failed", kind: "model" }],
  ["rate_limit", outcome(error, { error: "rate_limit" }), { is: "limited", kind: "rate" }],
  ["overloaded", outcome(error, { error: "overloaded" }), { is: "limited", kind: "overloaded" }],
  [
    "server_error with 529",
    outcome({ ...error, api_error_status: 529 }, { error: "server_error" }),
    { is: "limited", kind: "overloaded" },
  ],
  ["server_error with 500", outcome({ ...error, api_error_status: 500 }, { error: "server_error" }), { is: "cut" }],
  [
    "invalid_request with 413",
    outcome({ ...error, api_error_status: 413 }, { error: "invalid_request" }),
    { kind: "context" },
  ],
  [
    "invalid_request with 400",
    outcome({ ...error, api_error_status: 400 }, { error: "invalid_request" }),
    { kind: "agent" },
  ],
  ["an unknown error without a status", outcome(error, { error: "unknown" }), { is: "cut" }],
  ["max_output_tokens", outcome(error, { error: "max_output_tokens" }), { is: "failed", kind: "agent" }],
  ["a prompt that is too long", outcome({ ...error, terminal_reason: "prompt_too_long" }), { kind: "context" }],
  ["error_max_turns", outcome({ subtype: "error_max_turns", is_error: true }), { is: "failed", kind: "max-turns" }],
  ["a refusal of the model", outcome({ stop_reason: "refusal" }), { is: "failed", kind: "refused" }],
  [
    "an abort that nobody here asked for",
    outcome({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" }),
    { is: "cut" },
  ],
  [
    "an error of the program itself",
    outcome({ subtype: "error_during_execution", is_error: true, result: undefined, errors: ["boom"] }),
    { is: "failed", kind: "agent", message: "boom" },
  ],
  [
    "a rejected plan",
    outcome(error, { error: "rate_limit", rejected: { resetAt: 5_000 } }),
    { is: "limited", kind: "usage", resetAt: 5_000 },
  ],
  [
    "the client's words for a used-up plan, on an API error",
    outcome({ ...error, result: `${LIMIT} limit · resets 5pm` }, { error: "rate_limit" }),
    { is: "limited", kind: "usage" },
  ],
  [
    "root without a sandbox",
    outcome({ subtype: "error_during_execution", is_error: true, startup_failure_reason: "bypass_root" }),
    { is: "failed", kind: "agent" },
  ],
  [
    "a gateway that wants a login",
    outcome({ subtype: "error_during_execution", is_error: true, startup_failure_reason: "gateway_signin_required" }),
    { is: "failed", kind: "login" },
  ],
  [
    "a start that failed for now",
    outcome({ subtype: "error_during_execution", is_error: true, startup_failure_reason: "org_verify_failed" }),
    { is: "cut" },
  ],
  ["a dead process", outcome(undefined, { died: "terminated by signal SIGKILL" }), { is: "cut" }],
])("reads %s", (_, found, expected) => {
  expect(found).toMatchObject(expected);
});

it.each([
  "Added @upstash/ratelimit; see line 429. is_error:false",
  `${LIMIT} limit is what the page should say`,
  "HTTP 529 overloaded_error, please run /login, prompt is too long",
])("takes the agent's own words about limits for words (row 9): %s", (result) => {
  expect(outcome({ result })).toEqual({ is: "done" });
});
