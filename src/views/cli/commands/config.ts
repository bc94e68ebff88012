/** `pawl config`: every setting, its value, and where that comes from; the schema for editors. */
import type { Command } from "commander";
import { resolveSettings } from "../../../config.ts";
import { settingsSchema } from "../../../config/schema.ts";
import { EXIT } from "../../../errors.ts";
import { configDir } from "../../../platform/paths.ts";
import { print, printJson } from "../output.ts";
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
      print(JSON.stringify(settingsSchema(), null, 2));
      exit(EXIT.ok);
    });
  command.addHelpText("after", EXAMPLES);
}

function show({ origin, json }: Options): void {
  const { env } = process;
  const repository = repositoriesOf(process.cwd())[0];
  const resolved = resolveSettings({ env, repository, userDir: configDir(env) });
  const { settings, origins } = resolved;
  if (json === true) printJson({ v: 1, settings, origins });
  else print(settingsTable(resolved, { origin: origin === true }));
}

const EXAMPLES = `
Times are in ms in --json, money in US dollars.

Examples:
  pawl config show --origin
  pawl config show --json | jq .settings
  pawl config schema > pawl.schema.json
`;
