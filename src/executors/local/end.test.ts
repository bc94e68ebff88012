import { describe, expect, it } from "vitest";
import type { ProcessRecord } from "../../platform/process.ts";
import type { ExecutionEnd } from "../../ports/executor.ts";
import { endOf } from "./end.ts";

const MB = 1024 ** 2;
const limits = { timeoutMs: 2_000, memoryBytes: 64 * MB, processes: 8, diskBytes: 4 * MB, outputBytes: MB };
const record: ProcessRecord = {
  exitCode: 0,
  signal: null,
  timedOut: null,
  aborted: false,
  durationMs: 1,
  outputBytes: 0,
  leftBehind: 0,
  startError: null,
  limits: [],
};

interface Case {
  name: string;
  record?: Partial<ProcessRecord>;
  producedBytes?: number;
  fenced?: boolean;
  lastWords?: string;
  end: ExecutionEnd;
}

const memory = (size: string): ExecutionEnd => ({
  is: "limit",
  which: "memory",
  message: `it used more than ${size} of memory`,
});
const disk: ExecutionEnd = { is: "limit", which: "disk", message: "it wrote more than 4 MB" };

const CASES: Case[] = [
  { name: "an exit", record: { exitCode: 3 }, end: { is: "exit", code: 3 } },
  { name: "a signal", record: { exitCode: null, signal: "SIGSEGV" }, end: { is: "signal", signal: "SIGSEGV" } },
  { name: "a fence's word for a signal", record: { exitCode: 137 }, end: { is: "signal", signal: "SIGKILL" } },
  { name: "the same number without a fence", record: { exitCode: 137 }, fenced: false, end: { is: "exit", code: 137 } },
  { name: "a number that is no signal's", record: { exitCode: 255 }, end: { is: "exit", code: 255 } },
  {
    name: "time",
    record: { exitCode: null, signal: "SIGKILL", timedOut: "total" },
    end: { is: "timeout", afterMs: 2_000 },
  },
  {
    name: "a limit before the time that it made it lose",
    record: { exitCode: 137, timedOut: "total", limits: ["limit of 32 processes met"] },
    end: { is: "limit", which: "processes", message: "it started more than 8 processes" },
  },
  { name: "memory", record: { exitCode: 137, limits: ["killed: memory limit of 64 MB"] }, end: memory("64 MB") },
  {
    name: "the run's memory",
    record: { exitCode: 1, limits: ["killed: memory limit of 32 MB"] },
    end: memory("32 MB"),
  },
  {
    name: "a child's memory that it got over",
    record: { limits: ["killed: memory limit of 64 MB"] },
    end: { is: "exit", code: 0 },
  },
  {
    name: "memory in its own words",
    record: { exitCode: 1 },
    lastWords: "Traceback\nMemoryError\n",
    end: memory("64 MB"),
  },
  { name: "words of memory and an end that was well", lastWords: "MemoryError\n", end: { is: "exit", code: 0 } },
  { name: "a full folder", producedBytes: 5 * MB, end: disk },
  { name: "a folder that is just full", producedBytes: 4 * MB, end: { is: "exit", code: 0 } },
  { name: "a file that met its limit", record: { exitCode: 1 }, producedBytes: 4 * MB, end: disk },
  { name: "ended for the disk, and content", record: { limits: ["it wrote more than 4 MB (max-disk)"] }, end: disk },
  {
    name: "a disk that others filled",
    record: { exitCode: 137, limits: ["the disk is nearly full: under 128 MB free"] },
    end: { is: "limit", which: "disk", message: "the disk is nearly full: under 128 MB free" },
  },
  {
    name: "output, and content",
    record: { limits: ["more than 1 MB of output"] },
    end: { is: "limit", which: "output", message: "it printed more than 1 MB" },
  },
  {
    name: "a fence that cannot start it",
    record: { exitCode: 1, startError: { code: "FENCE", message: "its fence could not start it" } },
    lastWords: "bwrap: execvp python3: No such file or directory\n",
    end: {
      is: "unavailable",
      reason: "the fence could not start it: bwrap: execvp python3: No such file or directory",
    },
  },
  {
    name: "no start",
    record: { startError: { code: "ENOENT", message: "no such folder" } },
    end: { is: "unavailable", reason: "it could not be started: no such folder" },
  },
  {
    name: "stopped",
    record: { aborted: true, signal: "SIGKILL" },
    end: { is: "unavailable", reason: "it was stopped from outside before its end" },
  },
];

describe("the end of an execution", () => {
  it.for(CASES)("$name", ({ record: given = {}, producedBytes = 0, fenced = true, lastWords = "", end }) => {
    expect(endOf({ ...record, ...given }, { limits, producedBytes, fenced, lastWords })).toEqual(end);
  });
});
