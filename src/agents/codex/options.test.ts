import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../spec.ts";
import { answerOptions, codexOptions } from "./options.ts";

const fenced = (options: AgentSpec["options"]) => codexOptions(options, { fenced: true });
const unfenced = (options: AgentSpec["options"]) => codexOptions(options, { fenced: false });

describe("codex options", () => {
  it("leave its own sandbox on only where pawl has no fence around it", () => {
    expect([fenced({}).sandbox, unfenced({}).sandbox]).toEqual(["danger-full-access", "workspace-write"]);
    expect(unfenced({ permissions: "read-only" }).sandbox).toBe("read-only");
    expect(() => fenced({ permissions: "workspace-write" })).toThrow(/--permissions workspace-write .* fence/);
    expect(answerOptions({ mcp: ["x"], effort: "low" }, { fenced: false })).toMatchObject({
      sandbox: "read-only",
      mcp: [],
      effort: "low",
    });
  });

  it("let it ask only where somebody may say no", () => {
    const asking = (permissions: "allow" | "deny" | "ask") =>
      codexOptions({}, { ask: { permissions, questions: "deny" }, fenced: true }).approval;
    expect([asking("allow"), asking("deny"), asking("ask")]).toEqual(["never", "untrusted", "untrusted"]);
  });

  it("pass on settings that are not pawl's", () => {
    expect(fenced({ extra: ["--config=a.b=1", "-c", "c=2", "--disable", "sleep_tool"] }).extra).toEqual(
      "-c a.b=1 -c c=2 --disable sleep_tool".split(" "),
    );
  });

  it.for([
    [{ tools: ["Read"] }, /--tools/],
    [{ plugins: ["x"] }, /--plugin/],
    [{ maxTurns: 0 }, /--agent-max-turns/],
    [{ effort: "huge" }, /--effort is "huge"/],
    [{ permissions: "plan" }, /--permissions is "plan"/],
    [{ bin: "" }, /--agent-bin/],
    [{ color: "red" }, /no option color/],
    [{ extra: ["exec"] }, /settings only, not "exec"/],
    [{ extra: ["-c"] }, /settings only/],
    [{ extra: ["-c", "model=x"] }, /-c model .* --model/],
    [{ extra: ["-c", "model_providers.pawl.base_url=x"] }, /-c model_providers/],
    [{ extra: ["-c", "sandbox_mode=x"] }, /--permissions/],
    [{ extra: ["--enable", "goals"] }, /--native-goal/],
    [{ extra: ["-c", "features.goals=true"] }, /--native-goal/],
    [{ nativeGoal: "x", extra: ["--exec"] }, /codex exec has no goal loop/],
    [{ nativeGoal: "é".repeat(4001) }, /at most 4000 characters, this one has 4001/],
  ] as [AgentSpec["options"], RegExp][])("refuse %j by its name", ([options, words]) => {
    expect(() => unfenced(options)).toThrow(words);
  });
});
