/**
 * The test hook for "fail at every n": every append, spawn and rename pawl makes calls `fault` first, and so does every
 * stage of judging (the judged tree, a verify tree, a planted failure, a check, its report, the comparison with the
 * base). It does nothing unless PAWL_FAULT is set, e.g. `append:3:ENOSPC` (the third append fails) or `rename:1:kill`
 * (the process is killed with SIGKILL right before its first rename), or `spawn:2:kill-after` (right after the second
 * spawn).
 */
export type FaultPoint = "append" | "spawn" | "rename" | "judge";

interface Fault {
  point: FaultPoint;
  at: number;
  how: string;
}

const planned = parse(process.env["PAWL_FAULT"]);
const passed: Record<FaultPoint, number> = { append: 0, spawn: 0, rename: 0, judge: 0 };

function parse(text: string | undefined): Fault | undefined {
  const match = /^(append|spawn|rename|judge):(\d+):([A-Za-z-]+)$/.exec(text ?? "");
  if (match === null) return undefined;
  return { point: match[1] as FaultPoint, at: Number(match[2]), how: match[3] as string };
}

/** Whether the planned fault has come; it may be one that is got over. */
export const faultMet = (): boolean => planned !== undefined && passed[planned.point] >= planned.at;

/** How often this process has come by each. */
export const pointsPassed = (): Readonly<Record<FaultPoint, number>> => passed;

/** Throws an errno error, kills this process, or returns. Call it right before the effect. */
export function fault(point: FaultPoint): void {
  passed[point] += 1;
  if (planned?.point !== point || passed[point] !== planned.at) return;
  if (planned.how === "kill") process.kill(process.pid, "SIGKILL");
  if (planned.how === "kill-after") {
    setImmediate(() => process.kill(process.pid, "SIGKILL"));
    return;
  }
  throw Object.assign(new Error(`${planned.how}: injected at ${point} ${planned.at}`), { code: planned.how });
}
