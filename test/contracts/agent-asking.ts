/** What holds for an agent that says by a call how its work stands, and that asks a person. Part of the agent's contract. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { AgentEvent, AgentSession, Reply } from "../../src/ports.ts";
import type { Needs } from "./agent-play.ts";
import { LIMITS, play } from "./agent-play.ts";
import type { Worlds } from "./agent-worlds.ts";

interface Part {
  needs: Needs;
  shared: Worlds["shared"];
  heard(): string;
}

/** Silence for longer than this ends a turn in these tests, unless it is a person who is silent. */
const SHORT_MS = 8_000;
const LONGER_MS = 8_500;
const ASKS = { permissions: "ask", questions: "ask" } as const;

export function askingContract({ needs, shared, heard }: Part): void {
  needs(
    "done-call",
    "reports the agent's call of how its work stands in that turn only, and finds it again",
    async () => {
      const { agent, prompt, session, asked } = await shared();
      const uuid = randomUUID();
      const call = { is: "task", text: 'the first of "three"\nis done' } as const;
      const { end } = await play(session, prompt({ is: "call", call, text: "Next." }), { uuid });
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Next.", call });
      const later = await play(session, prompt({ is: "answer", text: "Nothing to say." }));
      expect(later.end.call).toBeNull();
      const found = await agent.inspect(asked, { uuid });
      expect(found).toMatchObject({ is: "ended", end: { call } });
    },
  );

  needs("ask", "waits for a person's permission, and does what is allowed", async () => {
    const { prompt, workspace, session } = await shared(ASKS);
    const path = join(workspace, "allowed.txt");
    const unasked = await session.reply?.("nobody asked", { is: "allow" });
    let both: ReturnType<typeof twice> | undefined;
    const { end, events } = await play(session, prompt({ is: "need", path, text: "Made." }), {
      onEvent(event) {
        if (event.type !== "asked") return;
        expect(existsSync(path)).toBe(false);
        both = twice(session, event.question, { is: "allow" });
      },
    });
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Made." });
    expect(existsSync(path)).toBe(true);
    const [asked, ...more] = askedIn(events);
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ kind: "permission", options: ["allow", "deny"] });
    expect(asked?.text).toContain("allowed.txt");
    const late = await session.reply?.(asked?.question ?? "", { is: "allow" });
    expect([unasked, ...((await both) ?? []), late]).toEqual([false, true, false, false]);
  });

  needs("ask", "tells the model why a person denied something, and does not do it", async () => {
    const { prompt, workspace, session } = await shared(ASKS);
    const path = join(workspace, "denied.txt");
    const reply: Reply = { is: "deny", reason: "use the other folder" };
    const { end } = await play(session, prompt({ is: "need", path, text: "Not made." }), answering(session, reply));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Not made." });
    expect(existsSync(path)).toBe(false);
    expect(heard()).toContain("use the other folder");
  });

  needs("ask", "denies by policy without asking anybody, and says so", async () => {
    const { prompt, workspace, session } = await shared({ permissions: "deny" });
    const path = join(workspace, "denied.txt");
    const { end, events } = await play(session, prompt({ is: "need", path, text: "Not made." }));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Not made." });
    expect(existsSync(path)).toBe(false);
    expect(askedIn(events)).toEqual([]);
    const notices = events.filter((event) => event.type === "notice").map(({ text }) => text);
    expect(notices.join("\n")).toContain("denied.txt");
    expect(heard()).toContain("policy");
  });

  needs("ask", "asks a person which way, and waits for the answer beyond every time limit of the turn", async () => {
    const { prompt, session } = await shared(ASKS);
    await play(session, prompt({ is: "answer", text: "warm" }));
    const behaviour = { is: "question", question: "Red or blue?", options: ["red", "blue"], text: "Painted." } as const;
    const { end, events } = await play(session, prompt({ ...behaviour, options: [...behaviour.options] }), {
      limits: { ...LIMITS, idleTimeoutMs: SHORT_MS, turnTimeoutMs: SHORT_MS },
      ...answering(session, { is: "text", text: "neither: green" }, LONGER_MS),
    });
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Painted." });
    // Some programs offer more than the model did.
    const options = expect.arrayContaining(["red", "blue"]) as string[];
    expect(askedIn(events)).toMatchObject([{ kind: "question", options }]);
    expect(askedIn(events)[0]?.text).toContain("Red or blue?");
    expect(heard()).toContain("neither: green");
  });

  needs("ask", "is interrupted while it waits for a person, and takes the next turn", async () => {
    const { agent, prompt, workspace, session, asked } = await shared(ASKS);
    const path = join(workspace, "never.txt");
    const controller = new AbortController();
    const uuid = randomUUID();
    const { end, events } = await play(session, prompt({ is: "need", path, text: "Never." }), {
      uuid,
      signal: controller.signal,
      onEvent: (event) => event.type === "asked" && controller.abort("stop"),
    });
    expect(end.outcome).toEqual({ is: "interrupted", by: "stop" });
    expect(await session.reply?.(askedIn(events)[0]?.question ?? "", { is: "allow" })).toBe(false);
    expect((await agent.inspect(asked, { uuid })).is).toBe("cut");
    const next = await play(session, prompt({ is: "answer", text: "still here" }));
    expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "still here" });
    expect(existsSync(path)).toBe(false);
  });
}

const askedIn = (events: readonly AgentEvent[]) => events.filter((event) => event.type === "asked");

async function twice(session: AgentSession, question: string, reply: Reply): Promise<(boolean | undefined)[]> {
  return [await session.reply?.(question, reply), await session.reply?.(question, reply)];
}

function answering(session: AgentSession, reply: Reply, afterMs = 0): { onEvent: (event: AgentEvent) => void } {
  return {
    onEvent(event) {
      if (event.type === "asked") setTimeout(() => void session.reply?.(event.question, reply), afterMs);
    },
  };
}
