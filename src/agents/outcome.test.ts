import { expect, it } from "vitest";
import { outcomeOfRefusal } from "./outcome.ts";

it.each([
  [401, { is: "failed", kind: "login" }],
  [403, { is: "failed", kind: "login" }],
  [402, { is: "failed", kind: "billing" }],
  [404, { is: "failed", kind: "model" }],
  [413, { is: "failed", kind: "context" }],
  [400, { is: "failed", kind: "agent" }],
  [429, { is: "limited", kind: "rate" }],
  [503, { is: "limited", kind: "overloaded" }],
  [529, { is: "limited", kind: "overloaded" }],
  [500, { is: "cut" }],
  [null, { is: "cut" }],
])("reads a refusal with status %s as what it means for the turn", (status, outcome) => {
  expect(outcomeOfRefusal({ kind: undefined, status, text: "words" })).toMatchObject(outcome);
});

it("believes the provider's own kind over the status, but an overload is an overload", () => {
  expect(outcomeOfRefusal({ kind: "billing", status: 400, text: "" })).toMatchObject({ kind: "billing" });
  expect(outcomeOfRefusal({ kind: "server", status: 529, text: "" })).toMatchObject({ kind: "overloaded" });
});

it("never reads the words: text about limits and logins changes nothing", () => {
  const text = "429 rate limit, You've hit your limit, 401 unauthorized, overloaded_error";
  expect(outcomeOfRefusal({ kind: "invalid", status: 400, text })).toMatchObject({ is: "failed", kind: "agent" });
});

it("keeps the reset time and bounds the message to one line", () => {
  const outcome = outcomeOfRefusal({ kind: "usage", status: 429, text: `a\n${"b".repeat(5000)}`, resetAt: 12 });
  expect(outcome).toMatchObject({ is: "limited", kind: "usage", resetAt: 12 });
  if (outcome.is !== "limited") return;
  expect(outcome.message.length).toBeLessThanOrEqual(500);
  expect(outcome.message).not.toContain("\n");
});
