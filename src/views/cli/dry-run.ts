/** `run --dry-run`: what would happen, to the letter of the first prompt. Nothing is started, written or spent. */
import { firstPrompt } from "../../compose/first-prompt.ts";
import { readMemos } from "../../loop/perform-memos.ts";
import type { Workspace } from "../../ports.ts";
import { readMemo } from "../../workspace/memo.ts";
import { plain } from "../plain.ts";
import { columns } from "./format.ts";
import { sayLimits } from "./header.ts";
import { note, print, printJson } from "./output.ts";
import { settingsTable } from "./settings-table.ts";
import type { Planned } from "./start-run.ts";

export async function printDryRun(
  { spec, base, resolved, tasks }: Planned,
  { json, memosIn }: { json: boolean; memosIn: string },
): Promise<void> {
  const read: Workspace["read"] = async (path, maxBytes, options) => readMemo(memosIn, { path, maxBytes, ...options });
  const { text, parts } = firstPrompt({ spec, base, tasks }, await readMemos(spec, { read }));
  if (json) {
    const { settings, origins } = resolved;
    printJson({ v: 1, spec, base, settings, origins, prompt: { text, parts } });
    return;
  }
  const included = parts
    .filter((part) => part.included)
    .map(({ name, bytes, cut }) => `${name} ${bytes}${cut > 0 ? ` (cut ${cut})` : ""}`);
  const leftOut = parts.filter((part) => !part.included && part.cut > 0).map(({ name, why }) => `${name}: ${why}`);
  const checks = spec.checks.map(({ name, command, required, timeoutMs }) => [
    `  ${name}`,
    plain(command),
    `${required ? "required" : "not required"}, ${timeoutMs / 1_000} s`,
  ]);
  const { workspace } = spec;
  print(
    [
      "settings that are not the default (pawl config show has all)",
      settingsTable(resolved, { origin: true, changed: true }),
      "",
      `workspace  ${workspace.path}`,
      `commits    ${workspace.commit === "branch" ? `on ${workspace.branch}` : workspace.commit}`,
      `limits     ${sayLimits(spec.limits)}`,
      "",
      "checks",
      checks.length === 0 ? "  none: the best outcome is claimed" : columns(checks),
      "",
      `first prompt (bytes: ${included.join(", ")})`,
      ...(leftOut.length === 0 ? [] : [`left out: ${leftOut.join(", ")}`]),
      "",
      plain(text),
      "",
    ].join("\n"),
  );
  note("dry run: nothing was started, changed or spent");
}
