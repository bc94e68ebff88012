import { expect, it } from "vitest";

it("is met at its number, also by who gets over it", async () => {
  process.env["PAWL_FAULT"] = "append:2:EIO";
  const { fault, faultMet, pointsPassed } = await import("./faults.ts");
  fault("append");
  fault("rename");
  expect(faultMet()).toBe(false);
  expect(() => fault("append")).toThrow(/^EIO: injected at append 2$/);
  fault("append");
  expect(faultMet()).toBe(true);
  expect(pointsPassed()).toEqual({ append: 3, spawn: 0, rename: 1, judge: 0 });
});
