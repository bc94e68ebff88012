/** Facts and places for tests of journals. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { factSchema, type NewFact } from "../../src/events.ts";
import type { Owner } from "../../src/ports.ts";
import { plainSpec } from "../support/spec.ts";

export const KNOWN_TYPES: ReadonlySet<string> = new Set(factSchema.options.map((option) => option.shape.type.value));
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

export function runStart(run: string, goal = "make the tests pass"): NewFact {
  const plain = plainSpec("/home/user/project");
  const spec = {
    ...plain,
    run,
    goal,
    checks: [{ name: "tests", kind: "command" as const, command: "npm test", required: true, timeoutMs: 60_000 }],
    environment: { PATH: "/usr/bin" },
  };
  return {
    type: "run-start",
    spec,
    pawl: "0.1.0",
    base: { commit: null, tree: TREE, branch: "main", detached: false },
  };
}

export const ABOUT = { repository: "/home/user/project", goal: "make the tests pass" };
export const NOW = { at: 1_700_000_000_000, elapsed: 1_000 };

export function iteration(n: number, why = "the last check failed"): NewFact {
  return { type: "iteration-start", n, why };
}

export function ownerOf(pid: number): Owner {
  return { pid, startedAt: "12345", boot: "b00t", host: "here" };
}

/** A process of this machine, alive in the sense that matters to these tests. */
export function isRunning({ pid }: Owner): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function makePlace(): { dir: string; [Symbol.dispose](): void } {
  const parent = mkdtempSync(join(tmpdir(), "pawl-journal-"));
  return { dir: join(parent, "state"), [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }) };
}

export async function collect<T>(items: AsyncIterable<T>, { count, stop }: { count: number; stop: AbortController }) {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
    if (all.length >= count) stop.abort();
  }
  return all;
}
