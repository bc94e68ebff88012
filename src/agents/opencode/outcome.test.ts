import { expect, it } from "vitest";
import { outcomeOf, outcomeOfRetry } from "./outcome.ts";
import { refusalOf } from "./refusal.ts";

const PROSE = "429 rate limit exceeded, prompt is too long, unauthorized, overloaded_error";
const NOTHING = { finished: false, error: undefined, refusal: undefined, died: undefined };
const api = (statusCode: number, error: object = {}, headers: object = {}) => ({
  name: "APIError",
  data: { message: PROSE, statusCode, responseHeaders: headers, responseBody: JSON.stringify({ error }) },
});

it.each([
  [api(401), { is: "failed", kind: "login" }],
  [api(403, { type: "permission_error" }), { is: "failed", kind: "login" }],
  [api(429, { code: "insufficient_quota" }), { is: "failed", kind: "billing" }],
  [api(429, { type: "rate_limit_error" }), { is: "limited", kind: "rate" }],
  [api(429, { type: "usage_limit_reached", resets_at: 5 }), { is: "limited", kind: "usage", resetAt: 5000 }],
  [api(529), { is: "limited", kind: "overloaded" }],
  [api(404, { code: "model_not_found" }), { is: "failed", kind: "model" }],
  [api(400, { code: "context_length_exceeded" }), { is: "failed", kind: "context" }],
  [api(400, { type: "invalid_request_error" }), { is: "failed", kind: "agent" }],
  [api(500), { is: "cut" }],
  [{ name: "APIError", data: { message: PROSE } }, { is: "cut" }],
  [
    { name: "ProviderAuthError", data: { message: PROSE } },
    { is: "failed", kind: "login" },
  ],
  [
    { name: "ContextOverflowError", data: { message: PROSE } },
    { is: "failed", kind: "context" },
  ],
  [
    { name: "ContentFilterError", data: { message: PROSE } },
    { is: "failed", kind: "refused" },
  ],
  [{ name: "MessageAbortedError", data: { message: PROSE } }, { is: "cut" }],
  [
    { name: "UnknownError", data: { message: PROSE } },
    { is: "failed", kind: "agent" },
  ],
])("reads %j by its name and fields, never by its words", (error, outcome) => {
  expect(outcomeOf({ ...NOTHING, error })).toMatchObject(outcome);
});

it("is done with an answer, and cut without one", () => {
  expect(outcomeOf({ ...NOTHING, finished: true })).toEqual({ is: "done" });
  expect(outcomeOf({ ...NOTHING, died: "SIGKILL" })).toEqual({ is: "cut", reason: "SIGKILL" });
});

it("believes what the gateway saw where opencode has only words", () => {
  const error = { name: "UnknownError", data: { message: PROSE } };
  const refusal = { kind: undefined, status: 402, resetAt: undefined };
  expect(outcomeOf({ ...NOTHING, error, refusal })).toMatchObject({ is: "failed", kind: "billing" });
});

it("takes over a wait that opencode announces, until when the provider, or else opencode, says", () => {
  const retry = { next: 9_000, message: PROSE, seen: false };
  expect(outcomeOfRetry({ kind: undefined, status: 429, resetAt: 7_000 }, retry)).toMatchObject({
    is: "limited",
    kind: "rate",
    resetAt: 7_000,
  });
  expect(outcomeOfRetry(undefined, retry)).toMatchObject({ is: "limited", kind: "overloaded", resetAt: 9_000 });
  expect(outcomeOfRetry(undefined, { ...retry, seen: true }).is).toBe("cut");
  expect(outcomeOfRetry({ kind: "connection", status: null, resetAt: undefined }, retry).is).toBe("cut");
});

it("reads when a limit ends from the headers, in seconds, milliseconds and dates", () => {
  const at = (headers: object): number | undefined =>
    refusalOf({ status: 429, headers: { ...headers }, body: "<html>" }, 1_000)?.resetAt;
  expect(at({ "retry-after": "30" })).toBe(31_000);
  expect(at({ "retry-after-ms": "250" })).toBe(1_250);
  expect(at({ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" })).toBe(60_000);
  expect(at({})).toBeUndefined();
});
