import { describe, expect, it } from "vitest";
import { assert, integer, property } from "fast-check";
import { readBytes, readCount, readDuration, readMoney, sayDuration } from "./units.ts";

describe("amounts as people write them", () => {
  it.each([
    ["90s", 90_000],
    ["30m", 1_800_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["1H 30M", 5_400_000],
    ["2 h 5 m 1 s", 7_501_000],
    ["5 m", 300_000],
    ["250ms", 250],
    ["2d", 172_800_000],
    ["90", 90_000],
    ["0", 0],
  ])("reads the time %s", (text, ms) => expect(readDuration(text)).toBe(ms));

  it.each(["", "soon", "-5m", "1 30m", "5 m s", "1 000s", "1e3", "NaN", "Infinity", "5w", "m", "9999999d"])(
    "reads no time from %j",
    (text) => expect(readDuration(text)).toBeUndefined(),
  );

  it.each([
    [readCount, "120k", 120_000],
    [readCount, "2M", 2_000_000],
    [readCount, "1.5k", 1_500],
    [readBytes, "2MB", 2_097_152],
    [readBytes, "512KiB", 524_288],
    [readMoney, "$5", 5],
    [readMoney, ".50", 0.5],
  ])("reads an amount (%#)", (read, text, value) => expect(read(text)).toBe(value));

  it.each(["1.5", "-1", "0x10", "1e9", "twelve", "9".repeat(30)])("reads no count from %j", (text) =>
    expect(readCount(text)).toBeUndefined(),
  );

  it("says every time so that it is read back", () => {
    assert(property(integer({ min: 1, max: 30 * 86_400_000 }), (ms) => readDuration(sayDuration(ms)) === ms));
  });
});
