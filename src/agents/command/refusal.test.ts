import { expect, it } from "vitest";
import { refusalOf } from "./refusal.ts";

const NOW = 1_000_000;
const refused = (status: number, error: object, headers: Record<string, string> = {}) =>
  refusalOf({ status, headers, body: JSON.stringify({ error }) }, NOW);

it("reads what three providers say no with", () => {
  expect(refused(429, { type: "rate_limit_error" }, { "retry-after": "30" })).toEqual({
    kind: "rate",
    status: 429,
    resetAt: NOW + 30_000,
  });
  expect(refused(400, { type: "invalid_request_error", code: "context_length_exceeded" })?.kind).toBe("context");
  expect(refused(429, { code: 429, status: "RESOURCE_EXHAUSTED" })?.kind).toBe("rate");
  expect(refused(429, { type: "usage_limit_reached", resets_at: 5_000 })).toMatchObject({
    kind: "usage",
    resetAt: 5_000_000,
  });
  expect(refused(429, {}, { "anthropic-ratelimit-unified-reset": "7000" })?.resetAt).toBe(7_000_000);
});

it("knows an answer from a refusal, and takes a page of a proxy by its status alone", () => {
  expect(refusalOf({ status: 200, headers: {}, body: "" }, NOW)).toBeUndefined();
  expect(refusalOf({ status: 502, headers: {}, body: "<html>" }, NOW)).toEqual({
    kind: undefined,
    status: 502,
    resetAt: undefined,
  });
});
