/** The library in one process, with an agent that is a function: the handle, the control point, checks of the program's own. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, tempRepository, type TempRepository } from "../../../test/support/temp.ts";
import { scripted, type ScriptedFunction } from "../../agents/scripted.ts";
import { UsageError } from "../../errors.ts";
import type { Fact } from "../../events.ts";
import type { OwnCheck } from "./own-check.ts";
import { open, resume } from "./resume.ts";
import { run, type RunOptions } from "./run.ts";

const CLAIM = "<promise>COMPLETE</promise>";

interface Place {
  repository: TempRepository;
  environment: Record<string, string>;
  options(over: Partial<RunOptions> & { script: ScriptedFunction }): RunOptions;
}

function place(): Place {
  const repository = tempRepository({ "a.txt": "one\n" });
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: tempDir("home"),
    PAWL_HOME: join(tempDir("state"), "pawl"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  return {
    repository,
    environment,
    options: ({ script, ...over }) => ({
      goal: "make it two",
      cwd: repository.path,
      environment,
      agent: scripted(script),
      shortTurn: 0,
      ...over,
    }),
  };
}

const write = (workspace: string, content: string): void => writeFileSync(join(workspace, "a.txt"), content);
const holds = (wanted: string): OwnCheck => ({
  name: "content",
  judge: ({ path }) => {
    const found = readFileSync(join(path, "a.txt"), "utf8").trim();
    return found === wanted ? { pass: true } : { pass: false, message: `a.txt holds ${found}` };
  },
});

describe("run", () => {
  it("drives an agent and a check that are the program's own, and hands the work over on a branch", async () => {
    const { options, repository } = place();
    const prompts: string[] = [];
    const handle = await run(
      options({
        checks: [holds("two")],
        script: ({ n, prompt, workspace }) => {
          prompts.push(prompt);
          write(workspace, n === 1 ? "wrong\n" : "two\n");
          return { text: CLAIM };
        },
      }),
    );
    const facts: Fact[] = [];
    for await (const fact of handle.events) facts.push(fact);
    const { outcome, branch, commit, state } = await handle.outcome;
    expect(outcome).toMatchObject({ is: "verified" });
    expect(branch).toBe("pawl/make-it-two");
    expect(repository.git("rev-parse", branch ?? "")).toBe(commit);
    expect(repository.git("show", `${branch}:a.txt`)).toBe("two");
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, n) => n));
    expect([facts[0]?.type, facts.at(-1)?.type]).toEqual(["run-start", "run-end"]);
    expect(facts.at(-1)?.seq).toBe(state.seq);
    expect(prompts[1]).toContain("a.txt holds wrong");
    await expect(handle.say("too late")).rejects.toThrow("not driven any more");
  });

  it("steers: words reach the agent in the next prompt, a budget and a model count, a stop ends it", async () => {
    const { options } = place();
    const seen: { prompt: string; model: string | undefined }[] = [];
    const handle = await run(
      options({
        script: async ({ n, prompt, model, workspace }) => {
          seen.push({ prompt, model });
          write(workspace, `${n}\n`);
          if (n === 1) {
            await handle.say("look at the second line");
            await handle.model("bigger");
            await handle.budget({ iterations: 7 });
          }
          if (n === 2) await handle.stop();
          return {};
        },
      }),
    );
    const { outcome, state } = await handle.outcome;
    expect(outcome).toMatchObject({ is: "stopped", rule: "directive:stop-after" });
    expect(seen).toHaveLength(2);
    expect(seen[1]?.prompt).toContain("look at the second line");
    expect(seen[1]?.model).toBe("bigger");
    expect(state.limits.iterations).toBe(7);
  });

  it("refuses what cannot be before anything is changed: a misspelt option, no goal, two checks of one name", async () => {
    const { options, repository, environment } = place();
    const script: ScriptedFunction = () => ({});
    const wrong: [Partial<RunOptions>, string][] = [
      [{ maxCots: 5 } as Partial<RunOptions>, "no option maxCots"],
      [{ goal: " " }, "needs a goal"],
      [{ checks: "npm test" } as unknown as Partial<RunOptions>, "checks is a list"],
      [{ agent: { name: "mine" } } as unknown as Partial<RunOptions>, "the agent is no Agent"],
      [{ checks: [holds("x"), "content=true"] }, "two checks are called content"],
      [{ cwd: environment["HOME"] ?? "" }, "not in a git repository"],
      [{ worktree: true, commit: "none" }, "a worktree has a branch of its own"],
      [{ branchPrefix: "a b" }, "cannot begin a branch name"],
    ];
    for (const [over, says] of wrong) {
      const error = await run(options({ script, ...over })).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(UsageError);
      expect((error as Error).message).toContain(says);
    }
    expect(repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    expect(existsSync(join(environment["PAWL_HOME"] ?? "", "journal.db"))).toBe(false);
  });

  it("reads no pawl.yaml and no PAWL_ variable unless it is asked to", async () => {
    const { options, repository, environment } = place();
    repository.commit("settings", { "pawl.yaml": "max-iterations: 1\nbranch-prefix: team/\n" });
    const script: ScriptedFunction = ({ n, workspace }) => {
      write(workspace, `${n}\n`);
      return n < 3 ? {} : { text: CLAIM };
    };
    const env = { ...environment, PAWL_PATIENCE: "9" };
    const plain = await run(options({ script, environment: env, goal: "plain" }));
    expect((await plain.outcome).outcome.is).toBe("claimed");
    expect(plain.spec.struggle.patience).toBe(3);
    repository.git("switch", "-q", "main");
    const asked = await run(options({ script, environment: env, config: true, goal: "asked" }));
    expect((await asked.outcome).outcome.is).toBe("exhausted");
    expect(asked.spec.struggle.patience).toBe(9);
    expect(asked.spec.workspace.branch).toBe("team/asked");
  });

  it("a check of the program's own that throws or never answers could not judge: a person must look", async () => {
    const { options } = place();
    const script: ScriptedFunction = ({ workspace }) => {
      write(workspace, "two\n");
      return { text: CLAIM };
    };
    const silent: OwnCheck = { name: "silent", timeout: "50ms", judge: () => new Promise(() => undefined) };
    const broken: OwnCheck = {
      name: "broken",
      judge: () => {
        throw new Error("no database");
      },
    };
    const handle = await run(options({ script, checks: [silent, broken], backoff: "1ms", maxBackoff: "5ms" }));
    const { outcome, state } = await handle.outcome;
    expect(outcome).toMatchObject({ is: "needs-human", rule: "unverifiable" });
    const reasons = [...state.verdicts.values()].map((verdict) => ("reason" in verdict ? verdict.reason : verdict.is));
    expect(reasons).toEqual(["no answer within 50 ms", "it threw: no database"]);
  });

  it("an answer of such a check that is no verdict is taken for none: a person must look, nothing is tried for ever (row 13)", async () => {
    const { options } = place();
    const script: ScriptedFunction = ({ workspace }) => {
      write(workspace, "two\n");
      return { text: CLAIM };
    };
    const evidence = { tree: "0".repeat(40), command: "kept", exitCode: 0, signal: null, durationMs: 1 };
    const earlier = { ...evidence, log: null, logBytes: 0, isolation: "copy", suspicions: [] };
    const throwing = {
      get pass(): boolean {
        throw new Error("no answer");
      },
    };
    const wrong: unknown[] = [
      { is: "probably" },
      true,
      undefined,
      { pass: "yes" },
      { is: "pass" },
      { is: "pass", evidence: earlier },
      throwing,
    ];
    for (const [n, answer] of wrong.entries()) {
      const check: OwnCheck = { name: "odd", judge: () => answer as { pass: true } };
      const handle = await run(
        options({ script, checks: [check], backoff: "1ms", maxBackoff: "2ms", worktree: true, goal: `try ${n}` }),
      );
      const { outcome, state } = await handle.outcome;
      expect(outcome).toMatchObject({ is: "needs-human", rule: "unverifiable" });
      expect(state.spent.turns).toBe(1);
    }
  });

  it("works in a worktree of its own, two of one goal at once each on a branch of its own", async () => {
    const { options, repository } = place();
    const script: ScriptedFunction = ({ workspace }) => {
      write(workspace, `${workspace}\n`);
      return { text: CLAIM };
    };
    const started = await Promise.all([1, 2, 3].map(() => run(options({ script, worktree: true, minIterations: 1 }))));
    const ends = await Promise.all(started.map((handle) => handle.outcome));
    expect(ends.map(({ branch }) => branch ?? "").toSorted()).toEqual([
      "pawl/make-it-two",
      "pawl/make-it-two-2",
      "pawl/make-it-two-3",
    ]);
    for (const { branch, state } of ends)
      expect(repository.git("show", `${branch}:a.txt`)).toBe(state.spec.workspace.path);
    expect(repository.git("status", "--porcelain", "-b")).toBe("## main");
  });
});

describe("onIteration", () => {
  it("is awaited between iterations and redirects: a hint, another model, a stop", async () => {
    const { options } = place();
    const log: string[] = [];
    const handle = await run(
      options({
        checks: [holds("never")],
        script: ({ n, prompt, model, workspace }) => {
          log.push(`turn ${n} ${model ?? "-"} ${/hint \d/.exec(prompt)?.[0] ?? "-"}`);
          // Another approach each time: numbers alone make none.
          write(workspace, `${"x".repeat(n)}\n`);
          return { text: `words ${n}` };
        },
        async onIteration({ iteration, decision, verdicts, text }) {
          log.push(`asked after ${iteration}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
          log.push(`answered ${text} ${decision.rule} ${verdicts[0]?.verdict?.is}`);
          if (iteration === 1) return { say: "hint 1" };
          if (iteration === 2) return { model: "bigger", budget: { iterations: 9 } };
          return { stop: true };
        },
      }),
    );
    const { outcome, state } = await handle.outcome;
    expect(log).toEqual([
      "turn 1 - -",
      "asked after 1",
      "answered words 1 continue fail",
      "turn 2 - hint 1",
      "asked after 2",
      "answered words 2 continue fail",
      "turn 3 bigger -",
      "asked after 3",
      "answered words 3 continue fail",
    ]);
    expect(outcome).toMatchObject({ is: "stopped" });
    expect(state.limits.iterations).toBe(9);
  });

  it("that throws pauses the run with its reason and ends the driving; resume goes on, asks again and heeds the answer", async () => {
    const { options, environment } = place();
    const script: ScriptedFunction = ({ n, workspace }) => {
      write(workspace, `${n}\n`);
      return n < 3 ? {} : { text: CLAIM };
    };
    const agent = scripted(script);
    const handle = await run({
      ...options({ script }),
      agent,
      onIteration: () => {
        throw new Error("the dashboard is down");
      },
    });
    await expect(handle.outcome).rejects.toThrow("the dashboard is down");
    const view = await open(handle.id, { environment });
    expect(await view.state()).toMatchObject({ paused: true });
    const paused = (await view.facts()).find((fact) => fact.type === "directive-received");
    expect(paused).toMatchObject({ source: "library: onIteration failed: the dashboard is down" });
    const asked: number[] = [];
    const again = await resume(handle.id, {
      environment,
      agent,
      onIteration: ({ iteration }) => {
        asked.push(iteration);
      },
    });
    expect((await again.outcome).outcome.is).toBe("claimed");
    expect(asked).toEqual([1, 2]);
    await expect(resume("r-none", { environment })).rejects.toThrow("there is no run");
  });

  it("that answers what is no answer is refused, so that a misspelt stop does not let the run go on and cost", async () => {
    const wrong: [unknown, string][] = [
      [{ sotp: true }, "which is no answer"],
      [{ stop: "yes" }, "it is true or false"],
      ["stop", "no object"],
    ];
    for (const [answer, says] of wrong) {
      const { options } = place();
      const script: ScriptedFunction = ({ n, workspace }) => {
        write(workspace, `${n}\n`);
        return n < 3 ? {} : { text: CLAIM };
      };
      const handle = await run({ ...options({ script }), onIteration: () => answer as { stop: true } });
      await expect(handle.outcome).rejects.toThrow(says);
      expect(handle.state().spent.turns).toBe(1);
    }
  });

  it("waits for nobody: a stop from outside ends the run while it is asked, its signal is aborted", async () => {
    const { options } = place();
    let aborted = false;
    const handle = await run(
      options({
        script: ({ n, workspace }) => {
          write(workspace, `${n}\n`);
          return {};
        },
        onIteration: (_, signal) =>
          new Promise((resolve) => {
            void handle.stop({ when: "now" });
            signal.addEventListener("abort", () => {
              aborted = true;
              resolve({ say: "nobody hears this" });
            });
          }),
      }),
    );
    expect((await handle.outcome).outcome.is).toBe("stopped");
    expect(aborted).toBe(true);
  });

  it("an answer counts once, also when its boundary is asked about again after the driver was gone", async () => {
    const { options, environment } = place();
    const stop = new AbortController();
    const prompts: string[] = [];
    const agent = scripted(({ n, prompt, workspace }) => {
      prompts.push(prompt);
      write(workspace, `${n}\n`);
      return n < 2 ? {} : { text: CLAIM };
    });
    const handle = await run({
      ...options({ script: () => ({}) }),
      agent,
      signal: stop.signal,
      onFact: (fact) => {
        // The answer is a fact, and then the driver is gone before the next turn.
        if (fact.type === "directive-received") stop.abort(new Error("gone"));
      },
      onIteration: () => ({ say: "[the hint]" }),
    });
    await expect(handle.outcome).rejects.toThrow("gone");
    let asked = 0;
    const again = await resume(handle.id, {
      environment,
      agent,
      onIteration: () => {
        asked += 1;
        return { say: "[the hint]" };
      },
    });
    expect((await again.outcome).outcome.is).toBe("claimed");
    expect(asked).toBe(1);
    expect(prompts.slice(1).join("").split("[the hint]")).toHaveLength(2);
  });
});

describe("open", () => {
  it("follows a run without driving it, and says when there is none", async () => {
    const { options, environment } = place();
    const handle = await run(options({ script: () => ({ text: CLAIM }), minIterations: 1, maxIterations: 1 }));
    const view = await open(handle.id, { environment });
    const types: string[] = [];
    for await (const fact of view.follow()) {
      types.push(fact.type);
      if (fact.type === "run-end") break;
    }
    const { state } = await handle.outcome;
    expect(types).toHaveLength(state.seq + 1);
    expect((await view.state()).outcome).toEqual(state.outcome);
    await expect(open("r-none", { environment })).rejects.toMatchObject({ name: "UsageError" });
  });
});
