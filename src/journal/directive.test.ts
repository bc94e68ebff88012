/** The check by hand lets through nothing that the schema refuses, or a queued directive would stop the driver. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { directiveSchema, type Directive } from "../events.ts";
import { complaint } from "./directive.ts";

const GOOD: Directive[] = [
  { kind: "say", text: "look", when: "now" },
  { kind: "interrupt" },
  { kind: "pause" },
  { kind: "resume" },
  { kind: "stop", when: "after" },
  { kind: "model", model: "m" },
  { kind: "budget", limits: { iterations: 3, usd: 0.5 } },
  { kind: "memory", op: "pin", id: "a" },
  { kind: "answer", question: "q", text: "" },
  { kind: "cancel", directive: "d" },
  { kind: "task-add", text: "do it" },
  { kind: "task-mark", as: "done", task: "t" },
];

test("every kind of directive passes", () => {
  expect(new Set(GOOD.map(({ kind }) => kind)).size).toBe(directiveSchema.options.length);
  for (const directive of GOOD) expect(complaint(directive)).toBeUndefined();
});

test("whatever passes also passes the schema", () => {
  const value = fc.oneof(
    fc.constantFrom("now", "next", "after", "pin", "clear", "done", "", "x", "y".repeat(2_001), "y".repeat(65_537)),
    fc.constantFrom(1, 0, -1, 0.5, null, undefined, true),
    fc.record({ iterations: fc.constantFrom(1, 0.5, -1, "1") }),
    fc.record({ usd: fc.constantFrom(1, 0.5, 0, Infinity) }),
    fc.record({ strange: fc.constant(1) }),
  );
  const changed = fc.constantFrom<{ kind: string }[]>(...GOOD, { kind: "dance" }).chain((directive) => {
    const fields = fc.constantFrom(...Object.keys(directive), "extra");
    return fc.tuple(fc.constant(directive), fc.dictionary(fields, value, { minKeys: 1, maxKeys: 1 }));
  });
  let passed = 0;
  fc.assert(
    fc.property(changed, ([directive, changes]) => {
      const candidate = { ...directive, ...changes } as Directive;
      if (complaint(candidate) !== undefined) return;
      passed += 1;
      expect(directiveSchema.safeParse(JSON.parse(JSON.stringify(candidate))).success).toBe(true);
    }),
    { numRuns: 5_000 },
  );
  expect(passed).toBeGreaterThan(100);
});
