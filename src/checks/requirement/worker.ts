/** Tries a requirement on a text beside the main thread, where it can be ended in the middle of a pattern. */
import { parentPort, workerData } from "node:worker_threads";
import type { Requirement } from "../../spec.ts";
import { unmet } from "./unmet.ts";

const { requirement, text } = workerData as { requirement: Requirement; text: string };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(unmet(requirement, text));
