/** The text of a new `pawl.yaml`: what was found, and the settings most people look for, explained. Pure. */
import type { Found } from "./detect.ts";

/** Where the package has it when it is installed in the project; otherwise `pawl config schema` writes it. */
export const SCHEMA = "./node_modules/pawl/schema/pawl.schema.json";

export interface Chosen {
  /** The command that judges the work; undefined: none. */
  check: string | undefined;
  model: string | undefined;
  found: readonly Found[];
}

export function configFile({ check, model, found }: Chosen): string {
  const others = found.filter(({ command }) => command !== check);
  return `# yaml-language-server: $schema=${SCHEMA}
# Settings of pawl for this repository. A flag (--max-cost 5) or a variable
# (PAWL_MAX_COST=5) counts more than what stands here. All settings, with their
# values and where they come from: pawl config show --origin

# When it is done: commands that pawl runs itself, each must exit 0.
${checksOf(check, { found, others })}

# A run ends, and can be resumed, when one of these is reached.
max-iterations: 20
# max-cost: 5           # US dollars
# max-time: 2h          # working time
# max-tokens: 2M

# The agent.
${model === undefined ? "# model: claude-opus-5-5   # the agent's own default otherwise" : `model: ${yamlText(model)}`}
# context: auto         # persistent, fresh (in each iteration) or auto

# Passing checks alone end a run, without the agent saying that it is done.
# until-green: true

# Ask a person instead of letting the agent decide: pawl answer
# on-permission: ask    # may it use a tool?
# questions: ask        # which way?
`;
}

function checksOf(
  check: string | undefined,
  { found, others }: { found: readonly Found[]; others: readonly Found[] },
): string {
  const name = found.find(({ command }) => command === check)?.purpose ?? "check";
  if (check === undefined && others.length === 0)
    return '# Without one the best outcome is "claimed": the agent says so, nobody has proved it.\n# checks:\n#   - tests=npm test';
  const lines = others.map(
    ({ purpose, command, from }) => `#   - ${yamlText(`${purpose}=${command}`)}   # from ${from}`,
  );
  return [
    check === undefined ? "# checks:" : `checks:\n  - ${yamlText(`${name}=${check}`)}`,
    ...(lines.length === 0 || check === undefined
      ? lines
      : [
          "# Found too; they must pass before the run, else it can never be done:",
          ...lines.map((line) => line.replace("#   -", "#  -")),
        ]),
  ].join("\n");
}

/** Plain where YAML takes it for a text, quoted where it would not. */
function yamlText(text: string): string {
  return /^[A-Za-z][\w ./=+-]*$/.test(text) && !/^(true|false|yes|no|on|off|null)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
