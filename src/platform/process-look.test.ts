import { expect, it } from "vitest";
import { lookFor, type ProcessTable } from "./process-look.ts";

/** What is asked of the table moves time on: each process is there from one moment to another, and can be read from a later one. */
function tableOf(processes: Record<number, { from: number; until: number; readable: number; value?: string }>) {
  let now = 0;
  const table: ProcessTable = {
    pids: () => living((now += 1)).map(([pid]) => Number(pid)),
    variableOfEach(_, among) {
      const readable = living((now += 1)).filter(([pid, one]) => among.includes(Number(pid)) && one.readable <= now);
      return new Map(readable.flatMap(([pid, { value }]) => (value === undefined ? [] : [[Number(pid), value]])));
    },
    isStarting: (pid) => living(now).some(([one, { readable }]) => Number(one) === pid && readable > now),
  };
  const living = (at: number) => Object.entries(processes).filter(([, { from, until }]) => from <= at && at < until);
  return { table, now: () => now };
}

it("finds a program that has forked away and exited between the list and the look", () => {
  const { table } = tableOf({
    1: { from: 0, until: 99, readable: 0, value: "other" },
    10: { from: 0, until: 2, readable: 0, value: "ours" },
    11: { from: 2, until: 5, readable: 0, value: "ours" },
    12: { from: 5, until: 99, readable: 0, value: "ours" },
  });
  const { all, values } = lookFor("RUN", table);
  expect([all, [...values]]).toEqual([
    [1, 10, 11, 12],
    [
      [1, "other"],
      [12, "ours"],
    ],
  ]);
});

it("waits for a program that is just being started, whose environment nobody can read", () => {
  const { table } = tableOf({ 10: { from: 0, until: 99, readable: 7, value: "ours" } });
  expect([...lookFor("RUN", table).values]).toEqual([[10, "ours"]]);
});

it("reads once more what has just been started between two looks at it", () => {
  const { table } = tableOf({ 10: { from: 0, until: 99, readable: 3, value: "ours" } });
  const isStarting = (pid: number): boolean => (table.pids(), table.isStarting(pid));
  expect([...lookFor("RUN", { ...table, isStarting }).values]).toEqual([[10, "ours"]]);
});

it("has an end where programs are started without end, or one never gets ready", () => {
  const stuck = tableOf({ 10: { from: 0, until: Infinity, readable: Infinity } });
  expect(lookFor("RUN", stuck.table).all).toEqual([10]);
  let next = 0;
  const endless: ProcessTable = { pids: () => [(next += 1)], variableOfEach: () => new Map(), isStarting: () => false };
  expect(lookFor("RUN", endless).all.length).toBeLessThan(1_000);
});
