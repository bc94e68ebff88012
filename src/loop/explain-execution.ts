/** Temporary. */
import { createHash } from "node:crypto";
import type { Code, Execution } from "../ports/executor.ts";
export interface Explained {
  kind: string;
  fingerprint: string;
  message: string;
}
export function explain(execution: Execution, _code: Code): Explained {
  const { end, stderr } = execution;
  const kind = end.is === "exit" ? (end.code === 0 ? "ok" : "exit") : end.is;
  const message = end.is === "exit" ? (stderr.text.trim().split("\n").at(-1) ?? "") : JSON.stringify(end);
  return {
    kind,
    message,
    fingerprint: createHash("sha256")
      .update(kind + message.replaceAll(/\d+/g, "0"))
      .digest("hex")
      .slice(0, 16),
  };
}
export const failureMessage = ({ kind, message }: Explained, _execution: Execution): string =>
  kind === "ok" ? "" : `${kind}: ${message}`;
