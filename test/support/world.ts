/**
 * A whole world behind the ports, in memory and deterministic: a journal that fences, a workspace, an agent with
 * sessions, checks, a clock. A driver can be killed at its n-th touch of the world, before or after the effect; the
 * world lives on and another driver takes over. The kernel's laws are tested in it.
 */
import { createHash } from "node:crypto";
import type { Directive, Fact, NewFact, TurnOutcome, Usage, Verdict } from "../../src/events.ts";
import type { Agent, AgentEvent, Ports, TurnEnd } from "../../src/ports.ts";
import type { RunSpec } from "../../src/spec.ts";

export interface Behaviour {
  /** Lines added to the workspace, one per model request. */
  lines: string[];
  claim: boolean;
  /** Ends of the first turns of this iteration, before one runs through. */
  faults: ("limited" | "limited-reset" | "crash" | "timeout")[];
  usd: number | null;
}

export interface World {
  facts: Fact[];
  content: string[];
  commits: { tree: string; message: string; at: number }[];
  requests: number;
  finished: string[];
  boughtTwice: string[];
  touches: number;
  wall: number;
  mono: number;
  inbox: { id: string; directive: Directive }[];
  prompts: string[];
  sessions: Map<string, Session>;
  snapshots: Map<number, string[]>;
  trees: Map<string, string[]>;
  faulted: Map<number, number>;
  epoch: number;
}

interface Session {
  turns: Map<string, { usage: Usage; ended?: TurnEnd; tools: [string, number][] }>;
}

const oid = (text: string): string => createHash("sha1").update(text).digest("hex");
const treeOf = (lines: readonly string[]): string => oid(lines.join("\n"));

export function makeWorld(): World {
  return {
    facts: [],
    content: [],
    commits: [],
    requests: 0,
    finished: [],
    boughtTwice: [],
    touches: 0,
    wall: 1_800_000_000_000,
    mono: 0,
    inbox: [],
    prompts: [],
    sessions: new Map(),
    snapshots: new Map(),
    trees: new Map(),
    faulted: new Map(),
    epoch: 0,
  };
}

export function makeSpec(over: Partial<RunSpec> = {}): RunSpec {
  return {
    run: "r-1",
    recipe: "run",
    goal: "make it green",
    workspace: {
      repository: "/r",
      path: "/r",
      commit: "branch",
      branch: "pawl/x",
      allowDirty: false,
      maxSnapshotBytes: 1e9,
      maxSnapshotFiles: 1e6,
    },
    agent: {
      name: "sim",
      context: "persistent",
      contextLimitTokens: 100_000,
      idleTimeoutMs: 1_000,
      turnTimeoutMs: 10_000,
      completionGraceMs: 100,
      options: {},
    },
    checks: [{ name: "tests", kind: "command", command: "true", required: true, timeoutMs: 1_000 }],
    claim: { promise: "COMPLETE", required: true },
    minIterations: 1,
    maxErrors: 3,
    limits: { iterations: 20 },
    struggle: { patience: 3, shortTurnMs: 0, ladder: ["hint", "fresh-session", "other-agent", "restore-best", "stop"] },
    waits: { backoffBaseMs: 100, backoffMaxMs: 10_000, limitCapMs: 86_400_000 },
    environment: {},
    ...over,
  };
}

export function startFact(spec: RunSpec): NewFact {
  return {
    type: "run-start",
    spec,
    pawl: "test",
    base: { commit: oid("base"), tree: treeOf([]), branch: "main", detached: false },
  };
}

const zero: Usage = {
  requests: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  usd: 0,
  estimated: false,
};
const plus = (u: Usage, usd: number | null): Usage => ({
  ...u,
  requests: u.requests + 1,
  toolCalls: u.toolCalls + 1,
  inputTokens: u.inputTokens + 100,
  outputTokens: u.outputTokens + 10,
  usd: u.usd === null || usd === null ? null : u.usd + usd,
});

/** When this driver dies: at its n-th touch of the world, with the effect done or not. */
export interface Death {
  touch: number;
  afterEffect: boolean;
}

/** The ports one driver gets. After its death nothing it does reaches the world, and nothing it awaits comes back. */
export function portsOf(
  world: World,
  spec: RunSpec,
  behaviours: readonly Behaviour[],
  passes: (lines: readonly string[]) => boolean,
  death?: Death,
): Ports & { dead: Promise<void> } {
  let touches = 0;
  let isDead = false;
  let die = (): void => undefined;
  const dead = new Promise<void>((resolve) => (die = resolve));
  const never = new Promise<never>(() => undefined);
  const touch = async <T>(effect: () => T): Promise<T> => {
    if (isDead) return await never;
    touches += 1;
    world.touches += 1;
    const dying = death !== undefined && touches === death.touch;
    if (dying && !death.afterEffect) {
      isDead = true;
      die();
      return await never;
    }
    const result = effect();
    if (dying) {
      isDead = true;
      die();
      return await never;
    }
    await Promise.resolve();
    return result;
  };
  const stamp = (fact: NewFact, time: { at: number; elapsed: number }, epoch: number): Fact => ({
    v: 1,
    run: spec.run,
    lane: "main",
    ...fact,
    seq: world.facts.length,
    at: time.at,
    elapsed: time.elapsed,
    epoch,
    prev: "",
  });

  const keep = (lines: readonly string[]): string => {
    world.trees.set(treeOf(lines), [...lines]);
    return treeOf(lines);
  };
  const agent: Agent = {
    name: "sim",
    gaps: [],
    async open({ session: { ref, mode } }) {
      if (!world.sessions.has(ref)) {
        if (mode === "continue") throw new Error(`continued a session that does not exist: ${ref}`);
        world.sessions.set(ref, { turns: new Map() });
      }
      return {
        turn: (request, _limits, signal) => simTurn(ref, request.uuid, request.prompt, signal),
        say: async () => "next-turn",
        setModel: async () => "now",
        close: async () => undefined,
      };
    },
    async inspect({ session: { ref } }, { uuid }) {
      return await touch(() => {
        const turn = world.sessions.get(ref)?.turns.get(uuid);
        if (turn === undefined) return { is: "unknown" as const };
        if (turn.ended !== undefined) return { is: "ended" as const, end: turn.ended, tools: turn.tools };
        return { is: "cut" as const, usage: turn.usage, tools: turn.tools, messageId: null };
      });
    },
  };

  async function* simTurn(ref: string, uuid: string, prompt: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    world.prompts.push(prompt);
    const n = Number(/^Iteration (\d+)/m.exec(prompt)?.[1]);
    const behaviour = behaviours[Math.min(n, behaviours.length) - 1] ?? { lines: [], claim: true, faults: [], usd: 0 };
    const turn = { usage: zero, tools: [] as [string, number][] } as {
      usage: Usage;
      ended?: TurnEnd;
      tools: [string, number][];
    };
    const end = (outcome: TurnOutcome, finalText: string): TurnEnd => ({
      type: "turn-end",
      outcome,
      usage: turn.usage,
      finalText,
      messageId: `${uuid}-m`,
      contextTokens: 10,
    });
    const faults = world.faulted.get(n) ?? 0;
    const fault = behaviour.faults[faults];
    if (fault !== undefined) {
      world.faulted.set(n, faults + 1);
      await touch(() => undefined);
      yield end(faultOutcome(fault, world.wall), "");
      return;
    }
    const todo = behaviour.lines.filter((line) => !world.content.includes(line));
    const steps = [...todo, undefined];
    for (const line of steps) {
      if (signal.aborted) {
        yield end({ is: "interrupted", by: String(signal.reason) }, "");
        return;
      }
      await touch(() => {
        world.requests += 1;
      });
      const finalText = behaviour.claim ? "done\n<promise>COMPLETE</promise>" : "not yet";
      await touch(() => {
        world.sessions.get(ref)?.turns.set(uuid, turn);
        turn.usage = plus(turn.usage, behaviour.usd);
        if (line !== undefined) world.content.push(line);
        if (line === undefined) {
          turn.ended = end({ is: "done" }, finalText);
          if (world.finished.includes(`${n}`)) world.boughtTwice.push(`${n}`);
          world.finished.push(`${n}`);
        }
      });
      yield { type: "request" };
      yield { type: "usage", usage: turn.usage };
      yield { type: "message", id: `${uuid}-${turn.usage.requests}` };
      if (turn.ended !== undefined) yield turn.ended;
    }
  }

  return {
    dead,
    clock: {
      wall: () => world.wall,
      mono: () => world.mono,
      async sleep(ms, signal) {
        // Time passes only when nothing else can happen.
        await new Promise((resolve) => setImmediate(resolve));
        if (signal.aborted) return;
        await touch(() => {
          if (signal.aborted) return;
          world.wall += ms;
          world.mono += ms;
        });
      },
    },
    journal: {
      create: async () => undefined,
      async own(_run, _owner, replay) {
        for (const fact of world.facts) replay?.(fact);
        world.epoch += 1;
        const { epoch } = world;
        return {
          epoch,
          append: async (facts, time) =>
            await touch(() => {
              if (world.epoch !== epoch) throw new Error("fenced");
              const stamped = facts.map((fact) => {
                const full = stamp(fact, time, epoch);
                world.facts.push(full);
                return full;
              });
              return stamped;
            }),
          async takeDirectives(time) {
            if (isDead || world.inbox.length === 0) return [];
            return await touch(() =>
              world.inbox.splice(0).map(({ id, directive }) => {
                const full = stamp(
                  { type: "directive-received", id, directive, source: "test", queuedAt: 0 },
                  time,
                  epoch,
                );
                world.facts.push(full);
                return full;
              }),
            );
          },
          inboxChanged: async (signal) => {
            if (world.inbox.length > 0) return;
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          },
          release: async () => undefined,
        };
      },
      read: async () => world.facts,
      follow: () => {
        throw new Error("not part of this world");
      },
      runs: async () => [],
      close: () => undefined,
    },
    trace: { write: () => undefined, read: async () => [], flush: async () => undefined },
    blobs: {
      put: async (content) => ({ hash: createHash("sha256").update(content).digest("hex"), bytes: content.length }),
      writer: () => {
        throw new Error("not part of this world");
      },
      get: async () => undefined,
    },
    agents: { sim: agent },
    workspace: {
      path: "/r",
      prepare: async () =>
        await touch(() => ({ commit: oid("base"), tree: treeOf([]), branch: "main", detached: false })),
      snapshot: async (n) =>
        await touch(() => {
          const tree = keep(world.content);
          world.snapshots.set(n, [...world.content]);
          return {
            commit: oid(`c${n}`),
            tree,
            judged: tree,
            files: [],
            fileCount: 0,
            added: 0,
            removed: 0,
            warnings: [],
          };
        }),
      diff: async (from, to) => await touch(() => `diff --git a/f b/f\n+${from}${to}`),
      accept: async ({ tree, message, at }) =>
        await touch(() => {
          const same = world.commits.some((c) => c.tree === tree && c.message === message && c.at === at);
          if (!same) world.commits.push({ tree, message, at });
          return { commit: oid(`${tree}${message}${at}`), branch: "pawl/x", adopted: [], warnings: [] };
        }),
      restore: async (to, { salvage }) =>
        await touch(() => {
          world.content = [...(world.snapshots.get(to) ?? [])];
          return { tree: keep(world.content), salvage };
        }),
      verifyTree: async (tree) =>
        await touch(() => ({ path: "/v", tree, isolation: "sim", release: async () => undefined })),
      close: async () => undefined,
    },
    checks: spec.checks.map(({ name, required }) => ({
      name,
      required,
      cost: "cheap" as const,
      judge: async ({ tree }) => await touch(() => judge(tree, passes(world.trees.get(tree) ?? []))),
    })),
    owner: { pid: 1, startedAt: "0", boot: "b", host: "h" },
    sweep: async () => 0,
    agentHome: { home: "/h", instructions: "", environment: {} },
    uuid: () => createHash("sha256").update(`${world.epoch} ${touches} ${world.facts.length}`).digest("hex"),
  };
}

function faultOutcome(fault: Behaviour["faults"][number], wall: number): TurnOutcome {
  switch (fault) {
    case "limited":
      return { is: "limited", kind: "overloaded", message: "529" };
    case "limited-reset":
      return { is: "limited", kind: "usage", resetAt: wall + 3_600_000, message: "limit" };
    case "crash":
      return { is: "cut", reason: "crashed" };
    case "timeout":
      return { is: "timeout", which: "idle", afterMs: 1_000 };
  }
}

function judge(tree: string, ok: boolean): Verdict {
  const evidence = {
    tree,
    command: "true",
    exitCode: ok ? 0 : 1,
    signal: null,
    durationMs: 1,
    log: null,
    logBytes: 0,
    isolation: "sim",
    suspicions: [],
  };
  if (ok) return { is: "pass", evidence };
  return { is: "fail", evidence, failures: [{ fingerprint: `f-${tree.slice(0, 4)}`, message: "red" }], excerpt: "red" };
}
