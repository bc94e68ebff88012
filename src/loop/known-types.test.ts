import { expect, it } from "vitest";
import { factSchema } from "../events.ts";
import { KNOWN_TYPES } from "./known-types.ts";

it("a driver goes on over every type of fact that there is a schema for, and no other", () => {
  expect(KNOWN_TYPES).toEqual(new Set(factSchema.options.map((option) => option.shape.type.value)));
});
