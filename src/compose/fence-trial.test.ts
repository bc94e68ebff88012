import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCanaries, type Canaries } from "./fence-canaries.ts";
import { PROBES } from "./fence-probes.ts";
import { isBroken, tryFence, tryProbe } from "./fence-trial.ts";

it("finds no way out of the fence, and leaves nothing behind", async () => {
  const { level, tried } = await tryFence("bwrap");
  expect(level).toContain("own namespaces");
  expect(tried.filter(isBroken)).toEqual([]);
  for (const who of ["agent", "check"] as const)
    expect(tried.filter((one) => one[who] === "held").length).toBeGreaterThanOrEqual(12);
});

/** Those that reach nothing but canaries even where nothing holds them. */
const SAFE = [
  "write a file outside",
  "read a file outside",
  "read pawl's state",
  "change your git settings and hooks",
  "see other processes",
  "read their environment",
  "connect to a server on this machine",
  "send a datagram",
  "connect to another program's socket",
  "trace another process",
  "signal another process",
];

describe("without a fence", () => {
  let canaries: Canaries;
  beforeAll(async () => {
    canaries = await openCanaries();
  });
  afterAll(() => {
    canaries.close();
    expect(existsSync(canaries.root)).toBe(false);
  });

  it.each(SAFE)("the probe gets through, so that its failure means something: %s", async (name) => {
    const probe = PROBES.find((one) => one.name === name);
    if (probe === undefined) throw new Error(name);
    const environment = { PATH: process.env["PATH"] ?? "" };
    expect(await tryProbe(probe, { canaries, confine: undefined, environment })).toBe("broken");
  });
});
