import { describe, expect, it } from "vitest";
import { UsageError } from "../../errors.ts";
import { presetEntry } from "./preset-entry.ts";
import { commandWords, hasPlaceholder, refuseUnknownPlaceholders } from "./words.ts";

describe("the words of a command", () => {
  it("leave a group out where one of its placeholders has no value", () => {
    const command = ["a", ["--model", "{model}"], ["--resume={session}"], "end"];
    expect(commandWords(command, {})).toEqual(["a", "end"]);
    expect(commandWords(command, { model: "m", session: "s" })).toEqual(["a", "--model", "m", "--resume=s", "end"]);
  });

  it("repeat a group for every value of a list", () => {
    expect(commandWords(["a", ["--mcp", "{mcp}"]], { mcp: ["x y", "z"] })).toEqual(["a", "--mcp", "x y", "--mcp", "z"]);
    expect(commandWords(["a", ["--mcp", "{mcp}"]], { mcp: [] })).toEqual(["a"]);
  });

  it("put the user's own arguments where {args} stands, else at the end", () => {
    expect(commandWords(["a", "{args}", "-"], { args: ["--x", "1"] })).toEqual(["a", "--x", "1", "-"]);
    expect(commandWords(["a", "{args}", "-"], {})).toEqual(["a", "-"]);
    expect(commandWords(["a", "b"], { args: ["--x"] })).toEqual(["a", "b", "--x"]);
  });

  it("never fill in what a value holds, and leave other braces alone", () => {
    expect(commandWords(["a", '{"k":1}', "{workspace}"], { workspace: "/w {model}", model: "m" })).toEqual([
      "a",
      '{"k":1}',
      "/w {model}",
    ]);
  });

  it("are refused with a placeholder that means nothing", () => {
    const entry = { ...presetEntry("qwen"), command: ["a", "{modle}"] };
    expect(() => refuseUnknownPlaceholders("mine", entry)).toThrow(UsageError);
    expect(() => refuseUnknownPlaceholders("mine", entry)).toThrow("{modle}");
    expect(hasPlaceholder(entry, "model")).toBe(false);
  });
});
