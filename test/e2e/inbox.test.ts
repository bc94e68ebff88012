/** Steering through the built command line while nobody drives: what is queued, and what is refused. */
import { expect, it } from "vitest";
import { recorded, RUN } from "../support/recorded-place.ts";

it("queues directives with receipts when nobody drives, and says so", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  const first = await place.pawl("steer", "plain words");
  expect([first.code, first.stdout]).toEqual([0, "d1 queued\n"]);
  expect(first.stderr).toContain(`nobody drives this run now; it is taken up with: pawl resume ${RUN}`);
  expect((await place.pawl("steer", RUN, "named", "--next")).stdout).toBe("d2 queued\n");
  expect((await place.start(["steer", "--file", "-"], { input: "from stdin" }).done).stdout).toBe("d3 queued\n");
  expect((await place.pawl("budget", "--max-cost", "5", "--max-time", "1h30m")).stdout).toBe("d4 queued\n");
  const queued = await recording.handle.inbox.queued(RUN);
  expect(queued.map(({ directive }) => directive)).toEqual([
    { kind: "say", text: "plain words", when: "now" },
    { kind: "say", text: "named", when: "next" },
    { kind: "say", text: "from stdin", when: "now" },
    { kind: "budget", limits: { usd: 5, drivenMs: 5_400_000 } },
  ]);
  const waited = await place.pawl("pause", "--wait");
  expect([waited.code, waited.stdout]).toEqual([1, "d5 queued\n"]);
  recording.close();
});

it("refuses what cannot be meant, in a line, with nothing queued", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  const refusals: [string[], string][] = [
    [["steer"], "nothing to say"],
    [["steer", "  "], "nothing to say"],
    [["steer", RUN], "nothing to say"],
    [["steer", "two", "words", "more"], "too many words"],
    [["steer", "x".repeat(65_537)], "65537 bytes"],
    [["steer", "--file", "/dev/zero"], "more than 65536 bytes"],
    [["steer", "--file", "/bin/sh"], "the text"],
    [["steer", "--wait", "text"], "--wait takes seconds"],
    [["steer", "--now", "--next", "x"], "contradicts"],
    [["model", RUN], "which model?"],
    [["budget"], "no limit was given"],
    [["budget", "--max-cost", "-1"], "--max-cost cannot be"],
    [["budget", "--max-iterations", "many"], "--max-iterations cannot be"],
    [["memory", "pin", "ffff"], "remembers nothing as"],
    [["memory", "clear"], "which one?"],
    [["restore"], "--at is missing"],
    [["restore", "--at", "../x"], "--at cannot be"],
    [["stop", "--soon"], "unknown option"],
    [["pause", "r-9"], "there is no run"],
  ];
  for (const [args, says] of refusals) {
    const { code, stdout, stderr } = await place.pawl(...args);
    expect([args, code, stdout, stderr]).toEqual([args, 2, "", expect.stringContaining(says)]);
  }
  expect(await recording.handle.inbox.queued(RUN)).toEqual([]);
  recording.close();
});

it("lists, shows, pins and clears what a run remembers", async () => {
  const { place, recording } = await recorded();
  await recording.release();
  const lessons = (await place.pawl("memory", "list", "--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string });
  expect(lessons).toMatchObject([{ failures: 1, blocked: false, pinned: false }, { failures: 1 }]);
  const id = lessons[0]?.id ?? "";
  expect((await place.pawl("memory", "show", id.slice(0, 5))).stdout).toContain("failed 1 time, first in iteration 1");
  expect((await place.pawl("memory", "pin", RUN, id.slice(0, 5))).stdout).toBe("d1 queued\n");
  expect((await place.pawl("memory", "clear", "--all")).stdout).toBe("d2 queued\n");
  const queued = await recording.handle.inbox.queued(RUN);
  expect(queued.map(({ directive }) => directive)).toEqual([
    { kind: "memory", op: "pin", id },
    { kind: "memory", op: "clear", id: "all" },
  ]);
  recording.close();
});
