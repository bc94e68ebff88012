import { expect, it } from "vitest";
import { isNewer } from "./doctor-newer.ts";

it("is newer by number, part by part, and never when it is no release", () => {
  expect(isNewer("0.2.0", "0.1.9")).toBe(true);
  expect(isNewer("0.10.0", "0.9.0")).toBe(true);
  expect(isNewer("1.0.0", "0.9.9")).toBe(true);
  for (const other of ["0.1.0", "0.0.9", "0.1.1-beta.1", "", "latest"]) expect(isNewer(other, "0.1.0")).toBe(false);
});
