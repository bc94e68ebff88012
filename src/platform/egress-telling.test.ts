/** A million tries leave a few lines. */
import { expect, it } from "vitest";
import type { Attempt } from "./egress.ts";
import { tellSparely } from "./egress-telling.ts";

it("tells the first tries one by one, and of a flood its size", () => {
  const told: Attempt[] = [];
  const tell = tellSparely((attempt) => void told.push(attempt));
  for (let n = 0; n < 100_000; n += 1) tell({ host: "a.invalid", port: 443, allowed: false, why: "not on the list" });
  expect(told.length).toBeLessThan(40);
  expect(told.at(-1)?.why).toBe("not on the list; 65536 such tries so far");
  for (let n = 0; n < 100_000; n += 1)
    tell({ host: `${n}.invalid`, port: 443, allowed: false, why: "not on the list" });
  expect(told.length).toBeLessThan(700);
});
