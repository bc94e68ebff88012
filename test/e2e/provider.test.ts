/** Faults of the model's API at every event of its stream, under the real Claude Code (F15). All: `npm run campaign`. */
import { afterAll, describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { faultyWire, type WireFault } from "../support/faulty-wire.ts";
import { figure, FULL } from "../support/figure.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
/** Asked to go on with an answer that broke off, the model says its last words again. */
const MADE = byIteration({
  1: [
    { text: "On it.", ...bash("echo x >> made.txt") },
    { text: CLAIM, repeat: true },
  ],
});
/** Of a run that nobody disturbs. */
const NEEDED = 2;
/** Server-sent events of both answers; the first test holds them. */
const EVENTS = [10, 7];

/** What one run came to with this fault at its n-th request. */
async function disturbed(fault: WireFault | undefined, at = 0) {
  const place = await cliPlace({ script: MADE });
  const wire = await faultyWire(place.standin?.url ?? "", (n) => (n === at ? fault : undefined));
  const args = ["run", "make made.txt", "--check", "grep -qx x made.txt", "--json"];
  const result = await place.start(args, { env: { ANTHROPIC_BASE_URL: wire.url } }).done;
  const asked = (place.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0).length;
  const refused = wire.made.filter((made) => made.do === "status").length;
  await wire.close();
  return {
    outcome: result.of("run-end").map(({ outcome }) => outcome.is),
    content: place.repository.git("show", "HEAD:made.txt"),
    iterations: result.of("iteration-start").length,
    faults: wire.made.length,
    requests: asked + refused,
    events: wire.events,
    counted: result.of("turn-end").reduce((sum, { usage }) => sum + usage.requests, 0),
  };
}

/** After the last event too: the answer is whole and its connection breaks. */
const POINTS = EVENTS.flatMap((events, at) =>
  Array.from({ length: events + 1 }, (_, afterEvents) => ({ at, afterEvents })),
);
interface Case {
  what: string;
  at: number;
  fault: WireFault;
}
const CASES: Case[] = [
  ...[429, 500, 529].flatMap((status) =>
    [0, 1].map((at): Case => ({ what: `status ${status}`, at, fault: { do: "status", status } })),
  ),
  ...POINTS.flatMap(({ at, afterEvents }): Case[] => [
    { what: `cut after ${afterEvents} events`, at, fault: { do: "cut", afterEvents } },
    ...(["overloaded_error", "api_error"] as const).map((type): Case => ({
      what: `${type} after ${afterEvents} events`,
      at,
      fault: { do: "error-event", afterEvents, type },
    })),
  ]),
];
/** Spread over statuses, kinds, requests and events. */
const SAMPLE = CASES.filter((_, n) => n % 11 === 3);

describe("a fault of the model's API", () => {
  it("is compared with an undisturbed run of two requests (F15)", async () => {
    expect(await disturbed(undefined)).toMatchObject({
      outcome: ["verified"],
      faults: 0,
      requests: NEEDED,
      events: EVENTS,
      counted: NEEDED,
    });
  });

  it.concurrent.for(FULL ? CASES : SAMPLE)(
    "$what, in the answer to request $at: the same end, one request more at most (F15)",
    async ({ fault, at }, { expect }) => {
      const { events: _, ...seen } = await disturbed(fault, at);
      const same = { outcome: ["verified"], content: "x", iterations: 1, faults: 1 };
      expect(seen).toEqual({ ...same, requests: expect.any(Number), counted: expect.any(Number) });
      expect(seen.requests).toBeLessThanOrEqual(NEEDED + seen.faults);
    },
  );
});

afterAll(() => figure("F15", { faults: (FULL ? CASES : SAMPLE).length }));
