/** What an agent must bear: a program that heeds nothing, what its tools leave, floods, a model that breaks off. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import type { Agent } from "../../src/ports.ts";
import { family, LEVELS } from "../support/family.ts";
import { faultyWire, type WireFault } from "../support/faulty-wire.ts";
import { figure, FULL } from "../support/figure.ts";
import { taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";
import { LIMITS, play, type AgentWorld } from "./agent-play.ts";

/** What these need beside the rest of a subject; a test without its part is skipped, visibly. */
export interface FaultySubject {
  /** Prompt that runs a command with a tool, then answers. */
  shell?(command: string, text: string): string;
  /** The model that it is on, and the same agent with the model at another address. */
  model?: { url: string; agentAt(url: string): Agent };
}

interface Part {
  world(ask?: undefined, how?: { other?: Agent }): AgentWorld;
  subject(): FaultySubject;
  runTag: string;
  /** Of the titles, which are run. */
  only: RegExp;
}

const DEADLINE_MS = 300;
const FLOOD = `head -c 8000000 /dev/zero; head -c 8000000 /dev/zero | tr '\\0' x; printf '\\342\\202\\377\\n'`;
const MAX_TOLD_CHARS = 200_000;
/** Requests of a turn that writes a file and then answers. */
const NEEDED = 2;
const STATUSES = [429, 500, 529];
/** Of the points in an answer; the campaign takes all. */
const EVERY = FULL ? 1 : 3;

export function faultsContract({ world, subject, runTag, only }: Part): void {
  const it = (title: string, body: (context: TestContext) => Promise<void>): void => {
    if (only.test(title)) test(title, body);
  };

  it("ends a turn of a program that heeds nothing by its deadline, and goes on with another (F2)", async () => {
    const { prompt, run, open } = world();
    const { session } = await open();
    await play(session, prompt({ is: "answer", text: "warm" }));
    for (const pid of taggedProcesses(runTag, run)) process.kill(pid, "SIGSTOP");
    const from = performance.now();
    const { end } = await play(session, prompt({ is: "hang" }), { limits: { ...LIMITS, idleTimeoutMs: DEADLINE_MS } });
    expect(end.outcome).toEqual({ is: "timeout", which: "idle", afterMs: DEADLINE_MS });
    figure("F2, the agent's own", { overDeadlineMs: Math.round(performance.now() - from - DEADLINE_MS) });
    const next = await play(session, prompt({ is: "answer", text: "another" }));
    expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "another" });
    await session.close();
    expect(taggedProcesses(runTag, run)).toEqual([]);
  });

  it("leaves nothing of what its tools started after close, in whatever session (F11)", async ({ skip }) => {
    const { shell } = subject();
    if (shell === undefined) return skip("it runs no commands");
    const { session } = await world().open();
    const { command, alive } = family({ tagged: true });
    const turn = play(session, shell(`${command}; sleep 50`, "never"));
    await waitFor(() => alive().length === LEVELS, { what: "the tool's children" });
    await session.close();
    await waitFor(() => alive().length === 0, { what: "the end of all of them" });
    expect((await turn).end.outcome.is).not.toBe("done");
  });

  it("bounds a flood of long lines, NULs and half characters, and hears what comes later (F13)", async ({ skip }) => {
    const { shell } = subject();
    if (shell === undefined) return skip("it runs no commands");
    const { session } = await world().open();
    const { end, events } = await play(session, shell(FLOOD, "dry again"));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "dry again" });
    expect(events.some((event) => event.type === "tool-end")).toBe(true);
    expect(JSON.stringify(events).length).toBeLessThan(MAX_TOLD_CHARS);
  });

  it("comes through a model that breaks off anywhere, without a lie and a request too many (F15)", async ({ skip }) => {
    const { model } = subject();
    if (model === undefined) return skip("it is on no model");
    let asked = 0;
    let armed: { at: number; fault: WireFault } | undefined;
    const wire = await faultyWire(model.url, () => {
      asked += 1;
      return armed?.at === asked - 1 ? armed.fault : undefined;
    });
    onTestFinished(() => wire.close());
    const { prompt, workspace, open } = world(undefined, { other: model.agentAt(wire.url) });
    const { session } = await open();
    let counted = 0;
    // The first turns may have their title asked for, one of them between turns.
    for (const text of ["one", "two"])
      counted += (await play(session, prompt({ is: "answer", text }))).end.usage.requests;
    wire.events.splice(0);
    const disturbed = async (fault: typeof armed): Promise<void> => {
      asked = 0;
      armed = fault;
      const path = join(workspace, `${randomUUID()}.txt`);
      const { end } = await play(session, prompt({ is: "write", path, content: "x\n", text: "Written." }));
      const at = JSON.stringify(fault);
      expect([at, end.outcome.is]).toEqual([at, expect.stringMatching(/^(done|cut|limited)$/)]);
      counted += end.usage.requests;
      expect([at, counted]).toEqual([at, wire.requests()]);
      expect(asked).toBeLessThanOrEqual(NEEDED + 1);
      if (end.outcome.is !== "done") return;
      expect([at, end.finalText, existsSync(path) && readFileSync(path, "utf8")]).toEqual([at, "Written.", "x\n"]);
    };
    await disturbed(undefined);
    const [first = 0, second = 0] = wire.events;
    const cuts = [first, second].flatMap((events, at) =>
      Array.from({ length: events + 1 }, (_, afterEvents) => ({ at, fault: { do: "cut", afterEvents } as const })),
    );
    const refusals = STATUSES.map((status, n) => ({ at: n % NEEDED, fault: { do: "status", status } as const }));
    const errors = (["overloaded_error", "api_error"] as const).map((type, at) => ({
      at,
      fault: { do: "error-event", afterEvents: 1, type } as const,
    }));
    const points = [...cuts.filter((_, n) => n % EVERY === 0), ...refusals, ...errors];
    for (const point of points) await disturbed(point);
    const { end } = await play(session, prompt({ is: "answer", text: "well again" }));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "well again" });
    expect(wire.made).toHaveLength(points.length);
    figure("F15, the agent's own", { faults: points.length });
  });
}
