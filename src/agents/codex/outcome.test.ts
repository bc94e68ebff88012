import { describe, expect, it } from "vitest";
import { outcomeOf } from "./outcome.ts";
import type { TurnError } from "./protocol.ts";
import type { Said } from "../refusal.ts";
import { refusalOf } from "./refusal.ts";

const NOW = 1_000_000;
const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  refusalOf({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body) }, NOW);

describe("what a model says no with", () => {
  it("is read from its fields", () => {
    expect(answer(200, "")).toBeUndefined();
    expect(answer(429, { error: { code: "rate_limit_exceeded" } }, { "retry-after": "5" })).toEqual({
      kind: "rate",
      status: 429,
      resetAt: NOW + 5_000,
    });
    expect(answer(429, { error: { type: "usage_limit_reached", resets_at: 4_000 } })).toMatchObject({
      kind: "usage",
      resetAt: 4_000_000,
    });
    expect(answer(429, { error: { type: "usage_limit_reached", resets_in_seconds: 9 } })?.resetAt).toBe(NOW + 9_000);
    expect(answer(503, "<html>", { "retry-after": "Thu, 01 Jan 1970 01:00:00 GMT" })).toEqual({
      kind: undefined,
      status: 503,
      resetAt: 3_600_000,
    });
    expect(answer(500, { error: "rate_limit_exceeded" }, { "retry-after": "soon" })).toEqual({
      kind: undefined,
      status: 500,
      resetAt: undefined,
    });
  });
});

describe("the outcome of a turn", () => {
  const failed = (codexErrorInfo: TurnError["codexErrorInfo"], refusal?: Said) =>
    outcomeOf({ status: "failed", error: { message: "words", codexErrorInfo }, refusal, died: undefined });

  it.for([
    ["contextWindowExceeded", { is: "failed", kind: "context" }],
    ["usageLimitExceeded", { is: "limited", kind: "usage" }],
    ["rateLimitExceeded", { is: "limited", kind: "rate" }],
    ["serverOverloaded", { is: "limited", kind: "overloaded" }],
    ["modelNotFound", { is: "failed", kind: "model" }],
    ["cyberPolicy", { is: "failed", kind: "refused" }],
    ["unauthorized", { is: "failed", kind: "login" }],
    ["internalServerError", { is: "cut" }],
    [{ httpConnectionFailed: { httpStatusCode: 401 } }, { is: "failed", kind: "login" }],
    [{ responseStreamDisconnected: { httpStatusCode: null } }, { is: "cut" }],
    ["other", { is: "failed", kind: "agent" }],
    ["a word of tomorrow", { is: "failed", kind: "agent" }],
    [null, { is: "failed", kind: "agent" }],
  ] as [TurnError["codexErrorInfo"], object][])("is known by Codex's word %j alone", ([info, outcome]) => {
    expect(failed(info)).toMatchObject(outcome);
  });

  it("is known better by what the model itself said", () => {
    const said = (kind: Said["kind"], status: number | null): Said => ({ kind, status, resetAt: 7 });
    expect(failed("other", said("context", 400))).toMatchObject({ is: "failed", kind: "context" });
    expect(failed("other", said("connection", null))).toMatchObject({ is: "cut" });
    expect(failed("other", said(undefined, 429))).toMatchObject({ is: "limited", kind: "rate", resetAt: 7 });
    expect(failed("rateLimitExceeded", said("billing", 429))).toMatchObject({ is: "failed", kind: "billing" });
  });

  it("without an end is a cut", () => {
    expect(outcomeOf({ status: undefined, error: undefined, refusal: undefined, died: "SIGKILL" })).toEqual({
      is: "cut",
      reason: "SIGKILL",
    });
    expect(outcomeOf({ status: "interrupted", error: undefined, refusal: undefined, died: undefined }).is).toBe("cut");
  });
});
