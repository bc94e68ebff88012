/**
 * A whole world behind the ports, in memory and deterministic: a journal that fences, a workspace, an agent with
 * sessions, checks, a clock. A driver can be killed at its n-th touch of the world, before or after the effect; the
 * world lives on and another driver takes over. The kernel's laws are tested in it.
 */
import { createHash } from "node:crypto";
import type { Directive, Fact, NewFact, Verdict } from "../../src/events.ts";
import type { HookResult, Ports, Reply, Standing } from "../../src/ports.ts";
import type { Execution } from "../../src/ports/executor.ts";
import type { HookSpec, RunSpec } from "../../src/spec.ts";
import { simAgent, type Behaviour, type SimTurn } from "./sim-agent.ts";
import { plainSpec } from "./spec.ts";

/** Ticks of the event loop without any effect after which a driver is taken to wait for a person. */
const IDLE_TICKS = 10;

/** As on a machine with a few cores. */
const CHECKS_AT_ONCE = 3;

/** The line of a failure that was planted. */
export const PLANTED = "planted";
/** What it says where an assertion lets pass what is wrong. */
export const LAX = "lax";

/** In an answer: the question that is open when it is given. */
export const ANY_QUESTION = "any";

/** A directive that someone gives at the n-th touch of the world, or when nothing happens any more. */
export interface Letter {
  touch: number;
  directive: Directive;
}

export interface World {
  facts: Fact[];
  content: string[];
  commits: { tree: string; message: string; at: number }[];
  requests: number;
  /** Dollars, as the provider counts them. */
  billed: number;
  finished: string[];
  /** Programs, each time one was run; and those of them whose result was a fact already. */
  executed: string[];
  executedTwice: string[];
  boughtTwice: string[];
  touches: number;
  wall: number;
  mono: number;
  inbox: { id: string; directive: Directive }[];
  /** Yet to come, by touch. */
  letters: Letter[];
  prompts: string[];
  blobs: Map<string, string>;
  /** Marks of what people said, each time it reached the model anew. */
  shown: string[];
  sessions: Map<string, Map<string, SimTurn>>;
  snapshots: Map<number, string[]>;
  salvages: Map<string, string[]>;
  /** States of the files that a restore wrote over without a copy. */
  lost: string[][];
  trees: Map<string, string[]>;
  faulted: Map<number, number>;
  /** Text files beside the lines, by path. */
  memos: Map<string, string>;
  /** What the agent was answered, by its own name of the question. */
  replies: { question: string; reply: Reply }[];
  /** Every start of a hook, with the type of fact it got. */
  hooked: { hook: string; on: string }[];
  hookResult: (hook: HookSpec, runs: number) => Partial<HookResult>;
  /** People answer before time passes. */
  quick: boolean;
  /** Those of each snapshot. */
  memosAt: Map<number, Map<string, string>>;
  ids: number;
  /** Letters that came. */
  posted: number;
  epoch: number;
  /** A driver waited for nothing at all. */
  hung: boolean;
  /** Its test files are of a known language. */
  plants: boolean;
  /** What the user's branch is found to be at the end. */
  standing: Standing;
}

const oid = (text: string): string => createHash("sha1").update(text).digest("hex");
const treeOf = (lines: readonly string[], memos: ReadonlyMap<string, string> = new Map()): string =>
  oid(lines.join("\n") + (memos.size === 0 ? "" : JSON.stringify([...memos])));

export function makeWorld(): World {
  return {
    facts: [],
    content: [],
    commits: [],
    requests: 0,
    billed: 0,
    finished: [],
    executed: [],
    executedTwice: [],
    boughtTwice: [],
    touches: 0,
    wall: 1_800_000_000_000,
    mono: 0,
    inbox: [],
    letters: [],
    prompts: [],
    blobs: new Map(),
    shown: [],
    sessions: new Map(),
    snapshots: new Map(),
    salvages: new Map(),
    lost: [],
    trees: new Map(),
    faulted: new Map(),
    memos: new Map(),
    replies: [],
    hooked: [],
    hookResult: () => ({}),
    quick: false,
    memosAt: new Map(),
    ids: 0,
    posted: 0,
    epoch: 0,
    hung: false,
    plants: false,
    standing: { is: "whole", warnings: [] },
  };
}

export function makeSpec(over: Partial<RunSpec> = {}): RunSpec {
  const plain = plainSpec("/r");
  return {
    ...plain,
    goal: "make it green",
    workspace: { ...plain.workspace, branch: "pawl/x" },
    agent: { ...plain.agent, name: "sim", idleTimeoutMs: 1_000, turnTimeoutMs: 10_000, completionGraceMs: 100 },
    checks: [{ name: "tests", kind: "command", command: "true", required: true, timeoutMs: 1_000 }],
    struggle: { patience: 3, shortTurnMs: 0, ladder: ["hint", "fresh-session", "other-agent", "restore-best", "stop"] },
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

function readWorld(
  { memos }: World,
  { path, maxBytes, tail }: { path: string; maxBytes: number; tail: boolean },
): { text: string; bytes: number } | undefined {
  const text = memos.get(path);
  if (text === undefined) return undefined;
  return { text: tail ? text.slice(-maxBytes) : text.slice(0, maxBytes), bytes: text.length };
}

function changedSince({ content, memos, snapshots, memosAt }: World, parent: number | null): string[] {
  if (parent === null) return [];
  const before = memosAt.get(parent) ?? new Map<string, string>();
  const texts = [...memos.keys()].filter((path) => memos.get(path) !== before.get(path));
  return [...(treeOf(content) === treeOf(snapshots.get(parent) ?? []) ? [] : ["lines"]), ...texts];
}

/** When this driver dies: at its n-th touch of the world, with the effect done or not. */
export interface Death {
  touch: number;
  afterEffect: boolean;
}

/** What a check makes of a tree that it has judged `tries` times before. */
export type Passes = (lines: readonly string[], tries: number) => boolean | "unverifiable";

/** The ports one driver gets. After its death nothing it does reaches the world, and nothing it awaits comes back. */
export function portsOf(
  world: World,
  spec: RunSpec,
  behaviours: readonly Behaviour[],
  passes: Passes,
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
    postDue();
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
  let ringInbox = (): void => undefined;
  const post = (given: Directive): void => {
    const isMeant = given.kind === "answer" && given.question === ANY_QUESTION;
    const directive = isMeant ? { ...given, question: openQuestion(world) ?? ANY_QUESTION } : given;
    world.inbox.push({ id: `d${(world.posted += 1)}`, directive });
    ringInbox();
  };
  const postDue = (): void => {
    while (world.letters[0] !== undefined && world.letters[0].touch <= world.touches) {
      const letter = world.letters.shift();
      if (letter !== undefined) post(letter.directive);
    }
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
  });

  const triesOf = (tree: string): number => world.facts.filter((f) => f.type === "check-end" && f.tree === tree).length;
  const keep = (lines: readonly string[]): string => {
    const tree = treeOf(lines, world.memos);
    world.trees.set(tree, [...lines]);
    return tree;
  };
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
          const letter = world.quick && openQuestion(world) !== undefined ? world.letters.shift() : undefined;
          if (letter !== undefined) return post(letter.directive);
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
          async inboxChanged(signal) {
            let seen = world.touches;
            for (let idle = 0; !signal.aborted && !isDead && world.inbox.length === 0;) {
              await new Promise<void>((resolve) => {
                ringInbox = resolve;
                setImmediate(resolve);
              });
              idle = world.touches === seen ? idle + 1 : 0;
              seen = world.touches;
              if (idle < IDLE_TICKS) continue;
              const letter = world.letters.shift();
              if (letter !== undefined) post(letter.directive);
              else if (isPaused(world)) post({ kind: "resume" });
              else if (openQuestion(world) !== undefined)
                post({ kind: "answer", question: openQuestion(world) ?? "", text: "go on" });
              else if (!signal.aborted && !isDead) {
                world.hung = true;
                isDead = true;
                die();
              }
            }
            if (isDead) return await never;
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
      async put(content) {
        const hash = createHash("sha256").update(content).digest("hex");
        world.blobs.set(hash, String(content));
        return { hash, bytes: content.length };
      },
      writer: () => {
        throw new Error("not part of this world");
      },
      get: async (hash) => (world.blobs.has(hash) ? Buffer.from(world.blobs.get(hash) ?? "") : undefined),
    },
    agents: { sim: simAgent({ world, behaviours, touch }) },
    workspace: {
      path: "/r",
      prepare: async () =>
        await touch(() => ({ commit: oid("base"), tree: treeOf([]), branch: "main", detached: false })),
      snapshot: async (n, { parent }) =>
        await touch(() => {
          const tree = keep(world.content);
          const paths = changedSince(world, parent);
          world.snapshots.set(n, [...world.content]);
          world.memosAt.set(n, new Map(world.memos));
          return {
            commit: oid(`c${n}`),
            tree,
            judged: tree,
            files: paths.map((path) => ({ path, status: "M", added: 1, removed: 0 })),
            fileCount: paths.length,
            added: 0,
            removed: 0,
            warnings: [],
            flagged: [],
          };
        }),
      diff: async (from, to) => await touch(() => `diff --git a/f b/f\n+${from}${to}`),
      changes: async () => await touch(() => []),
      fileAt: async () => await touch(() => undefined),
      accept: async ({ tree, message, at }) =>
        await touch(() => {
          const same = world.commits.some((c) => c.tree === tree && c.message === message && c.at === at);
          if (!same) world.commits.push({ tree, message, at });
          return { commit: oid(`${tree}${message}${at}`), branch: "pawl/x", adopted: [], warnings: [] };
        }),
      read: async (path, maxBytes, { tail = false } = {}) =>
        await touch(() => readWorld(world, { path, maxBytes, tail })),
      write: async (path, text) => await touch(() => void world.memos.set(path, text)),
      leftover: async (tree, { salvage }) =>
        await touch(() => {
          if (tree === keep(world.content)) return undefined;
          world.salvages.set(`salvage/${salvage}`, [...world.content]);
          return { salvage: `salvage/${salvage}`, paths: ["lines"], fileCount: 1 };
        }),
      standing: async () => await touch(() => world.standing),
      restore: async (to, { salvage }) =>
        await touch(() => {
          const target = world.snapshots.get(to);
          if (target === undefined) throw new Error(`there is no snapshot ${to}`);
          const kept = world.salvages.get(salvage);
          if (kept === undefined) world.salvages.set(salvage, [...world.content]);
          else if (![treeOf(target), treeOf(kept)].includes(treeOf(world.content))) world.lost.push(world.content);
          world.content = [...target];
          world.memos = new Map(world.memosAt.get(to));
          return { tree: keep(world.content), salvage };
        }),
      planted: async (tree) =>
        await touch(() => {
          const lines = world.trees.get(tree);
          if (lines === undefined) throw new Error(`planted in what does not exist: ${tree}`);
          return world.plants
            ? { tree: keep([...lines, PLANTED]), mark: LAX, plants: [{ path: "a.test.js", id: PLANTED }], isMet: false }
            : undefined;
        }),
      verifyTree: async (tree) =>
        await touch(() => ({ path: "/v", tree, isolation: "sim", release: async () => undefined })),
      close: async () => undefined,
    },
    code: {
      executor: {
        name: "sim",
        run: async ({ text }) =>
          await touch(() => {
            world.executed.push(text);
            const isKnown = world.facts.some((f) => f.type === "execution-recorded" && f.code.text === text);
            if (isKnown) world.executedTwice.push(text);
            return simExecution(text);
          }),
      },
      folder: async ({ step }) => (step === undefined ? "/r" : `/r/steps/${step}`),
      makeWay: () => undefined,
      remove: (names) => names.forEach((name) => world.memos.delete(name)),
    },
    hook: async (hook, input) =>
      await touch(() => {
        world.hooked.push({ hook: hook.name, on: (JSON.parse(input) as { type: string }).type });
        const runs = world.hooked.filter((one) => one.hook === hook.name).length;
        return { ok: true, exitCode: 0, durationMs: 1, output: "", ...world.hookResult(hook, runs) };
      }),
    checks: spec.checks.map(({ name, required }) => ({
      name,
      required,
      cost: "cheap" as const,
      judge: async ({ tree }) => await touch(() => judge(tree, passes(world.trees.get(tree) ?? [], triesOf(tree)))),
    })),
    checksAtOnce: CHECKS_AT_ONCE,
    owner: { pid: 1, startedAt: "0", boot: "b", host: "h" },
    sweep: async () => 0,
    agentHome: { home: "/h", instructions: "", environment: {} },
    uuid: () => oid(`id ${(world.ids += 1)}`),
  };
}

/** `print X` prints it, `fail X` fails with it; what comes after a # tells programs apart. */
function simExecution(code: string): Execution {
  const [, verb, words = ""] = /^(\w+) ?([^#]*)/.exec(code) ?? [];
  const isOk = verb === "print";
  const printed = (text: string): Execution["stdout"] => ({ text, bytes: text.length });
  return {
    end: { is: "exit", code: isOk ? 0 : 1 },
    stdout: printed(isOk ? words.trim() : ""),
    stderr: printed(isOk ? "" : words.trim()),
    files: [],
    durationMs: 1,
  };
}

/** As the facts say it, and nothing else. */
function isPaused(world: World): boolean {
  const last = world.facts.findLast(
    (f) => f.type === "directive-received" && /^(pause|resume)$/.test(f.directive.kind),
  );
  return last?.type === "directive-received" && last.directive.kind === "pause";
}

function openQuestion(world: World): string | undefined {
  const answered = new Set(world.facts.flatMap((f) => (f.type === "human-answered" ? [f.question] : [])));
  const open = world.facts.find((f) => f.type === "human-requested" && !answered.has(f.question));
  return open?.type === "human-requested" ? open.question : undefined;
}

function judge(tree: string, ok: ReturnType<Passes>): Verdict {
  if (ok === "unverifiable") return { is: "unverifiable", reason: "the judge was away" };
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
