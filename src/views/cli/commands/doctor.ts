/** `pawl doctor`: is everything here that pawl needs, and how to get what is missing. Changes nothing. */
import type { Command } from "commander";
import { EXIT } from "../../../errors.ts";
import { EXAMINATIONS, type Finding } from "../doctor-checks.ts";
import { startHere } from "../doctor-project.ts";
import { oneLine } from "../../plain.ts";
import { counted } from "../format.ts";
import { print, printJson } from "../output.ts";

const MAX_CHARS = 300;

interface Options {
  json?: true;
  offline?: true;
  fence?: string | true;
  agents?: string | true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .option("--json", "one object on stdout")
    .option("--offline", "do not ask npm for a newer pawl; without a terminal and in CI it is not asked")
    .option("--fence [kind]", "open the fence and try to get out of it, with canaries only")
    .option("--agents [form]", "all agents: installed, logged in, what each cannot do; as `markdown` for documents")
    .addHelpText("after", EXAMPLES)
    .action(async ({ json, offline, fence, agents }: Options) => {
      if (agents !== undefined) {
        const { tellAgents } = await import("../doctor-agents.ts");
        return exit(await tellAgents(agents, { json: json === true, env: process.env }));
      }
      if (fence !== undefined) {
        const { tryFenceHere } = await import("../doctor-fence.ts");
        return exit(await tryFenceHere(fence === true ? "auto" : fence, { json: json === true }));
      }
      const isAlone = !process.stdout.isTTY || process.env["CI"] !== undefined;
      const looking = { offline: offline === true || isAlone };
      const findings: Finding[] = [];
      for (const examine of EXAMINATIONS) findings.push(...(await examine(process.env, looking)));
      const healthy = findings.every(({ is }) => is !== "fail");
      if (json === true) printJson({ v: 1, healthy, findings });
      else print(report(findings));
      exit(healthy ? EXIT.ok : EXIT.unverified);
    });
}

const MARK = { ok: "ok", warn: "warn", fail: "FAIL" } as const;

/** What to do stands below what is wrong. */
function report(findings: readonly Finding[]): string {
  const wide = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, is, says, fix }) => [
    `${MARK[is].padEnd(4)}  ${name.padEnd(wide)}  ${oneLine(says, { max: MAX_CHARS })}`,
    ...(fix === undefined ? [] : [`${" ".repeat(wide + 8)}→ ${oneLine(fix, { max: MAX_CHARS })}`]),
  ]);
  const failed = findings.filter(({ is }) => is === "fail").length;
  const last =
    failed === 0 ? `ready: ${startHere(process.env)}` : `${counted(failed, "thing")} to put right before pawl can work`;
  return [...lines, "", last].join("\n");
}

const EXAMPLES = `
Exit code 1 when something that is needed is missing;
with --fence 5 when there is no fence or it does not hold.

Examples:
  pawl doctor
  pawl doctor --fence
  pawl doctor --agents
  pawl doctor --json | jq '.findings[] | select(.is != "ok")'
`;
