/** What an agent must bear: a program that heeds nothing, floods, a model that breaks off; and what it leaves when closed. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { family, LEVELS } from "../support/family.ts";
import type { ArmedFault, ArmedWire } from "../support/faulty-wire.ts";
import { figure, FULL } from "../support/figure.ts";
import { isRunning, signalAll, taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";
import { LIMITS, play } from "./agent-play.ts";
import { RUN_TAG, type Worlds } from "./agent-worlds.ts";

/** What these need beside the rest of a subject; a test without its part is skipped, visibly. */
export interface FaultySubject {
  /** Prompt that runs a command with a tool, then answers. */
  shell?(command: string, text: string): string;
  /** Why there is no process of it that could hang. */
  noProgram?: string;
  /** Between it and its model. */
  wire?: ArmedWire;
  /** Its program asks for titles beside its turns, and may give up so many that have left. None unless told. */
  givesUpAsides?: number;
}

interface Chosen {
  subject(): FaultySubject;
  /** Of the titles, which are run. */
  only: RegExp;
}

const DEADLINE_MS = 300;
/** Within which a program that is started for the turn has been found and stopped, on a busy machine. */
const START_LIMIT_MS = 4_000;
const STOP_POLL_MS = 10;
const FLOOD = `head -c 8000000 /dev/zero; head -c 8000000 /dev/zero | tr '\\0' x; printf '\\342\\202\\377\\n'`;
const MAX_TOLD_CHARS = 200_000;
/** Of a request that has left to the model, on a busy machine. */
const ARRIVAL_LIMIT_MS = 10_000;
/** Requests of a turn that writes a file and then answers. */
const NEEDED = 2;
const STATUSES = [429, 500, 529];
/** What the model asks to wait: most programs would wait for seconds by themselves. */
const AT_ONCE_MS = 20;
/** Of the points in an answer; the campaign takes all. */
const EVERY = FULL ? 1 : 7;

const stopAll = (run: string): number[] => signalAll(taggedProcesses(RUN_TAG, run), "SIGSTOP");

type Test = (title: string, body: (context: TestContext) => Promise<void>) => void;
const testsOf =
  (only: RegExp): Test =>
  (title, body) => {
    if (only.test(title)) test(title, body);
  };

export function faultsContract({ shared, subject, only }: Chosen & Pick<Worlds, "shared">): void {
  const it = testsOf(only);

  it("ends a turn of a program that heeds nothing by its deadline, and goes on with another (F2)", async ({ skip }) => {
    const { noProgram } = subject();
    if (noProgram !== undefined) return skip(noProgram);
    const { prompt, run, session } = await shared();
    await play(session, prompt({ is: "answer", text: "warm" }));
    const stopped = stopAll(run);
    // Of one that is started for each turn, there is something to stop only within the turn.
    const isPerTurn = stopped.length === 0;
    const timer = setInterval(() => stopped.length === 0 && stopped.push(...stopAll(run)), STOP_POLL_MS);
    const idleTimeoutMs = isPerTurn ? START_LIMIT_MS : DEADLINE_MS;
    const from = performance.now();
    const { end } = await play(session, prompt({ is: "hang" }), { limits: { ...LIMITS, idleTimeoutMs } });
    clearInterval(timer);
    expect(end.outcome).toEqual({ is: "timeout", which: "idle", afterMs: idleTimeoutMs });
    expect(stopped).not.toEqual([]);
    figure("F2, the agent's own", { overDeadlineMs: Math.round(performance.now() - from - idleTimeoutMs) });
    const next = await play(session, prompt({ is: "answer", text: "another" }));
    expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "another" });
    expect(stopped.filter(isRunning)).toEqual([]);
  });

  it("comes through a model that breaks off anywhere, without a lie and a request too many (F15)", async ({ skip }) => {
    const { wire, givesUpAsides = 0 } = subject();
    if (wire === undefined) return skip("it is on no model");
    const { prompt, workspace, session } = await shared();
    const before = { requests: wire.requests(), made: wire.made.length };
    const seen = (): number => wire.requests() - before.requests;
    let counted = 0;
    let givenUp = 0;
    // The first turns may have their title asked for, one of them between turns.
    for (const text of ["one", "two"])
      counted += (await play(session, prompt({ is: "answer", text }))).end.usage.requests;
    wire.events.splice(0);
    const disturbed = async (fault?: ArmedFault): Promise<void> => {
      wire.arm(fault);
      const path = join(workspace, `${randomUUID()}.txt`);
      const { end } = await play(session, prompt({ is: "write", path, content: "x\n", text: "Written." }));
      const at = JSON.stringify(fault);
      expect([at, end.outcome.is]).toEqual([at, expect.stringMatching(/^(done|cut|limited)$/)]);
      counted += end.usage.requests;
      // A title may have left a moment before the turn's end, and still be on its way.
      const arrived = waitFor(() => seen() + givenUp >= counted, {
        what: `the last of ${counted} requests (${at})`,
        limitMs: ARRIVAL_LIMIT_MS,
      });
      // One that has left whole and is given up at once may have been read by nobody: it counts all the same.
      await arrived.catch(() => (givenUp = counted - seen()));
      expect(givenUp, at).toBeLessThanOrEqual(givesUpAsides);
      expect([at, counted]).toEqual([at, seen() + givenUp]);
      expect(wire.asked()).toBeLessThanOrEqual(NEEDED + 1);
      if (end.outcome.is !== "done") return;
      expect([at, end.finalText, existsSync(path) && readFileSync(path, "utf8")]).toEqual([at, "Written.", "x\n"]);
    };
    await disturbed();
    const [first = 0, second = 0] = wire.events;
    const cuts = [first, second].flatMap((events, at) =>
      Array.from({ length: events + 1 }, (_, afterEvents) => ({ at, fault: { do: "cut", afterEvents } as const })),
    );
    const refusals = STATUSES.map((status, n) => ({
      at: n % NEEDED,
      fault: { do: "status", status, retryAfterMs: AT_ONCE_MS } as const,
    }));
    const errors = (["overloaded_error", "api_error"] as const).map((type, at) => ({
      at,
      fault: { do: "error-event", afterEvents: 1, type } as const,
    }));
    const points = [...cuts.filter((_, n) => n % EVERY === 0), ...refusals, ...errors];
    for (const point of points) await disturbed(point);
    wire.arm();
    const { end } = await play(session, prompt({ is: "answer", text: "well again" }));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "well again" });
    expect(wire.made).toHaveLength(before.made + points.length);
    figure("F15, the agent's own", { faults: points.length });
  });

  // Behind the others: what it leaves in the conversation goes with every later request.
  it("bounds a flood of long lines, NULs and half characters, and hears what comes later (F13)", async ({ skip }) => {
    const { shell } = subject();
    if (shell === undefined) return skip("it runs no commands");
    const { session } = await shared();
    const small = await play(session, shell("echo a drop", "heard"));
    // Or a flood would be bounded because nothing of it is ever told.
    expect(small.events).toContainEqual(
      expect.objectContaining({ type: "tool-end", output: expect.stringContaining("a drop") as string }),
    );
    const { end, events } = await play(session, shell(FLOOD, "dry again"));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "dry again" });
    expect(events.some((event) => event.type === "tool-end")).toBe(true);
    expect(JSON.stringify(events).length).toBeLessThan(MAX_TOLD_CHARS);
  });
}

export function closingContract({ last, subject, only }: Chosen & Pick<Worlds, "last">): void {
  const it = testsOf(only);

  it("leaves no process after close, also in the middle of a turn, nor what its tools started in whatever session (F11)", async () => {
    const { shell } = subject();
    const { prompt, workspace, run, session } = await last();
    const { command, alive } = family({ tagged: true });
    const until = join(workspace, "never.txt");
    let isAtWork = false;
    const works = shell?.(`${command}; sleep 50`, "never") ?? prompt({ is: "work", until, text: "never" });
    const turn = play(session, works, {
      onEvent: (event) => (isAtWork ||= event.type === "tool-start"),
    });
    await waitFor(() => isAtWork && (shell === undefined || alive().length === LEVELS), {
      what: "the tool and its children",
      limitMs: LIMITS.turnTimeoutMs,
    });
    await session.close();
    expect(taggedProcesses(RUN_TAG, run)).toEqual([]);
    await waitFor(() => alive().length === 0, { what: "the end of all of them" });
    expect((await turn).end.outcome.is).not.toBe("done");
    await session.close();
    const late = await play(session, prompt({ is: "answer", text: "no" }));
    expect(late.end.outcome.is).not.toBe("done");
  });
}
