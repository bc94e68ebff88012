/** What the model is told of where it is; it stays the same over a run, for the cache. */
import type { OpenRequest } from "../../ports.ts";

const WORKER = `You are a software engineer at work in a folder, by the tools that you have. Look before you change anything, keep changes small, and see for yourself that they work. Say in a few words what you did when you are done.`;
const WITH_SANDBOX = `Code that you run with code_execution runs in a sandbox of its own, which has no network. It does not see the folder; the files that were uploaded are in it, and the files that it makes are put into the folder.`;

/** A session that only answers is told nothing but what its user wants. */
export function systemPrompt({ workspace, instructions, answer }: OpenRequest, hasSandbox: boolean): string {
  const own = answer === undefined ? [WORKER, `The folder: ${workspace}`] : [];
  return [...own, ...(hasSandbox ? [WITH_SANDBOX] : []), instructions].filter((part) => part !== "").join("\n\n");
}
