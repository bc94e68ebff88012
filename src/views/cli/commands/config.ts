/** `pawl config`: every setting, its value, and where that comes from; the schema for editors. */
import type { Command } from "commander";
import { resolveSettings } from "../../../config.ts";
import { settingsSchema } from "../../../config/schema.ts";
import { EXIT } from "../../../errors.ts";
import { configDir } from "../../../platform/paths.ts";
import { repositoriesOf } from "../run-id.ts";
import { settingsTable } from "../settings-table.ts";

interface Options {
  origin?: true;
  json?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .command("show")
    .description("show the settings; flag over PAWL_* over pawl.yaml over the user's file over default")
    .option("--origin", "where each comes from")
    .option("--json", "one object on stdout")
    .addHelpText("after", EXAMPLES)
    .action((options: Options) => {
      show(options);
      exit(EXIT.ok);
    });
  command
    .command("schema")
    .description("print the JSON Schema of pawl.yaml, for editors")
    .addHelpText("after", EXAMPLES)
    .action(() => {
      process.stdout.write(`${JSON.stringify(settingsSchema(), null, 2)}\n`);
      exit(EXIT.ok);
    });
  command.addHelpText("after", EXAMPLES);
}

function show({ origin, json }: Options): void {
  const { env } = process;
  const repository = repositoriesOf(process.cwd())[0];
  const resolved = resolveSettings({ env, repository, userDir: configDir(env) });
  const { settings, origins } = resolved;
  process.stdout.write(
    json === true
      ? `${JSON.stringify({ v: 1, settings, origins })}\n`
      : `${settingsTable(resolved, { origin: origin === true })}\n`,
  );
}

const EXAMPLES = `
Times are in ms in --json, money in US dollars.

Examples:
  pawl config show --origin
  pawl config show --json | jq .settings
  pawl config schema > pawl.schema.json
`;
