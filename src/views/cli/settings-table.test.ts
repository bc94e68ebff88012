import { expect, it } from "vitest";
import { resolveSettings } from "../../config.ts";
import { settingsTable } from "./settings-table.ts";

const MAX_PADDED_CHARS = 100;

it("one long value does not push the origins of all others out of sight", () => {
  const flags = { promise: "x".repeat(200) };
  const resolved = resolveSettings({ flags, env: {}, repository: undefined, userDir: undefined });
  const lines = settingsTable(resolved, { origin: true }).split("\n");
  const long = lines.filter((line) => line.length > MAX_PADDED_CHARS);
  // Only by what they have to say themselves.
  expect(long.filter((line) => / {20,}/.test(line))).toEqual([]);
  expect(lines.find((line) => line.startsWith("max-iterations"))?.length).toBeLessThan(MAX_PADDED_CHARS);
  expect(lines.find((line) => line.startsWith("promise "))).toMatch(/x{200} {2}--promise$/);
});
