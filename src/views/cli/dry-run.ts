/** `run --dry-run`: what would happen, to the letter of the first prompt. Nothing is started, written or spent. */
import { fold } from "../../loop/fold.ts";
import { joinParts } from "../../loop/prompt.ts";
import { runRecipe } from "../../recipes/run.ts";
import { VERSION } from "../../version.ts";
import { plain } from "../plain.ts";
import { columns } from "./format.ts";
import { sayLimits } from "./header.ts";
import { settingsTable } from "./settings-table.ts";
import type { Planned } from "./start-run.ts";

export function printDryRun({ spec, base, resolved }: Planned, { json }: { json: boolean }): void {
  const at = { v: 1, run: spec.run, lane: "main", seq: 0, at: 0, elapsed: 0, epoch: 0 } as const;
  const state = fold([{ ...at, type: "run-start", spec, base, pawl: VERSION }]);
  const { text, parts } = joinParts(
    runRecipe.prompt(state, {
      do: "turn",
      key: "turn",
      lane: "main",
      why: "dry run",
      iteration: 1,
      attempt: 1,
      session: { mode: "new" },
    }),
  );
  if (json) {
    const { settings, origins } = resolved;
    process.stdout.write(`${JSON.stringify({ v: 1, spec, base, settings, origins, prompt: { text, parts } })}\n`);
    return;
  }
  const included = parts
    .filter((part) => part.included)
    .map(({ name, bytes, cut }) => `${name} ${bytes}${cut > 0 ? ` (cut ${cut})` : ""}`);
  const checks = spec.checks.map(({ name, command, required, timeoutMs }) => [
    `  ${name}`,
    plain(command),
    `${required ? "required" : "not required"}, ${timeoutMs / 1_000} s`,
  ]);
  const { workspace } = spec;
  process.stdout.write(
    [
      "settings",
      settingsTable(resolved, { origin: true }),
      "",
      `workspace  ${workspace.path}`,
      `commits    ${workspace.commit === "branch" ? `on ${workspace.branch}` : workspace.commit}`,
      `limits     ${sayLimits(spec.limits)}`,
      "",
      "checks",
      checks.length === 0 ? "  none: the best outcome is claimed" : columns(checks),
      "",
      `first prompt (bytes: ${included.join(", ")})`,
      "",
      plain(text),
      "",
    ].join("\n"),
  );
  process.stderr.write("dry run: nothing was started, changed or spent\n");
}
