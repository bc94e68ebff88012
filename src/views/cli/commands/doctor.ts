/** `pawl doctor`: is everything here that pawl needs, and how to get what is missing. Changes nothing. */
import type { Command } from "commander";
import { EXIT } from "../../../errors.ts";
import { EXAMINATIONS, type Finding } from "../doctor-checks.ts";
import { columns } from "../format.ts";
import { plain } from "../../plain.ts";
import { print, printJson } from "../output.ts";

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .option("--json", "one object on stdout")
    .addHelpText("after", EXAMPLES)
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings: Finding[] = [];
      for (const examine of EXAMINATIONS) findings.push(...(await examine(process.env)));
      const healthy = findings.every(({ is }) => is !== "fail");
      if (json) printJson({ v: 1, healthy, findings });
      else
        print(
          columns(
            findings.map(({ name, is, says, fix }) => [
              is,
              name,
              plain(`${says}${fix === undefined ? "" : ` → ${fix}`}`),
            ]),
          ),
        );
      exit(healthy ? EXIT.ok : EXIT.unverified);
    });
}

const EXAMPLES = `
Exit code 1 when something that is needed is missing.

Examples:
  pawl doctor
  pawl doctor --json | jq '.findings[] | select(.is != "ok")'
`;
