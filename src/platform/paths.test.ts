import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UsageError } from "../errors.ts";
import { agentHome, configDir, runDir, stateDir } from "./paths.ts";

describe("pawl's folders", () => {
  it("are PAWL_HOME, else XDG, else below the home", () => {
    const all = { PAWL_HOME: "/p", XDG_STATE_HOME: "/x", XDG_CONFIG_HOME: "/c", HOME: "/h" };
    expect(stateDir(all)).toBe("/p");
    expect(stateDir({ ...all, PAWL_HOME: "" })).toBe("/x/pawl");
    expect(stateDir({ HOME: "/h" })).toBe("/h/.local/state/pawl");
    expect(stateDir({})).toBe(join(homedir(), ".local/state/pawl"));
    expect(configDir(all)).toBe("/c/pawl");
    expect(configDir({ HOME: "/h" })).toBe("/h/.config/pawl");
  });

  it("are refused when relative, with the name of the variable", () => {
    expect(() => stateDir({ PAWL_HOME: "state" })).toThrow(UsageError);
    expect(() => stateDir({ XDG_STATE_HOME: "./x" })).toThrow("XDG_STATE_HOME is a relative path: ./x");
    expect(() => configDir({ XDG_CONFIG_HOME: "~/x" })).toThrow(UsageError);
  });

  it("of a run never leave the state folder, whatever the run is called", () => {
    expect(agentHome("/s", { run: "r-1", lane: "main" })).toBe("/s/runs/r-1/agents/main");
    for (const run of ["..", ".", "", "a/b", "../x", "-rf", "a\nb", "a\0b", "x".repeat(200)]) {
      expect(() => runDir("/s", run)).toThrow(UsageError);
    }
  });
});
