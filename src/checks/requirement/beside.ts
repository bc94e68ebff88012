/** Starts the worker that tries a requirement, and ends it when the time is over. */
import { Worker } from "node:worker_threads";
import type { Failure } from "../../events.ts";
import { ownModule } from "../../platform/own.ts";
import type { Requirement } from "../../spec.ts";

const MAX_HEAP_MB = 256;
const WORKER = ownModule("checks/requirement/worker");

/** Rejects when it is aborted or breaks; no thread is left then. */
export async function unmetBeside(requirement: Requirement, text: string, signal: AbortSignal): Promise<Failure[]> {
  const worker = new Worker(WORKER, {
    workerData: { requirement, text },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    execArgv: [],
  });
  const end = (): void => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await new Promise<Failure[]>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error(`${requirement.file} could not be looked at`)));
    });
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
