/**
 * Generated code that reads secrets, the network or the journal, forks, fills memory or disk, or never ends: contained,
 * whoever runs pawl, and what the model is told names the reason.
 */
import { describe, expect, it } from "vitest";
import { taggedProcesses } from "../support/processes.ts";
import { CODE_ATTACKS } from "../support/red-team/code-attacks.ts";
import { isRoot, playSession, SESSION_LIMIT_MS, type Session } from "../support/red-team/play.ts";

const attack = (as: "root" | "user"): Session =>
  playSession({
    as,
    user: 4_322,
    program: "test/support/red-team/code-session.ts",
    needs: ["src", "test/support", "package.json"],
  });

describe("generated code", () => {
  it.skipIf(!isRoot)("is contained, run by root (S3)", { timeout: SESSION_LIMIT_MS }, () => {
    const { uid, level, run, results } = attack("root");
    expect(level).toContain("own namespaces, a uid of its own, system calls filtered");
    expect(uid).toBe(0);
    expect(results.length).toBe(CODE_ATTACKS.length);
    expect(results.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
    expect(run).toMatch(/./);
    expect(taggedProcesses("PAWL_RUN", run ?? "")).toEqual([]);
  });

  it("is contained, run by an ordinary user (S3)", { timeout: SESSION_LIMIT_MS }, () => {
    const { uid, level, run, results } = attack("user");
    expect(level).toContain("own namespaces, your uid, system calls filtered");
    expect(uid).not.toBe(0);
    expect(results.length).toBe(CODE_ATTACKS.length);
    expect(results.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
    expect(run).toMatch(/./);
    expect(taggedProcesses("PAWL_RUN", run ?? "")).toEqual([]);
  });
});
