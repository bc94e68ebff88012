/** The text of a new `pawl.yaml`: what was found, and the settings most people look for, explained. Pure. */
import { checkName, commandLine, type Found, type Setup } from "./detect.ts";

/** Where the package has it when it is installed in the project. */
export const SCHEMA = "./node_modules/pawl/schema/pawl.schema.json";
/** Of a pawl that is installed elsewhere no path is right on every machine that has this repository. */
const NO_SCHEMA = "# For editors, the JSON Schema of this file: pawl config schema";

export interface Chosen {
  /** What judges the work. */
  checks: readonly { name: string; command: string }[];
  model: string | undefined;
  /** What else was found; `missing`: what it needs and this machine lacks. */
  others: readonly (Found & { missing?: string })[];
  setups: readonly Setup[];
  /** Dependencies that are not there have to be made; those that are there are copied. */
  needsSetup: boolean;
  /** The project has pawl's schema, at SCHEMA. */
  hasSchema: boolean;
}

export function configFile({ checks, model, others, setups, needsSetup, hasSchema }: Chosen): string {
  return `${hasSchema ? `# yaml-language-server: $schema=${SCHEMA}` : NO_SCHEMA}
# Settings of pawl for this repository. A flag (--max-cost 5) or a variable
# (PAWL_MAX_COST=5) counts more than what stands here. All settings, with their
# values and where they come from: pawl config show --origin

# When it is done: commands that pawl runs itself, each must exit 0.
${checks.length === 0 ? "" : "# Try them on the tree as it is: pawl check\n"}${checksOf(checks, others)}
${setupOf(setups, needsSetup)}
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

function checksOf(checks: Chosen["checks"], others: Chosen["others"]): string {
  const usable = others.filter(({ missing }) => missing === undefined);
  const lacking = others.flatMap((one) => (one.missing === undefined ? [] : [{ ...one, missing: one.missing }]));
  const entry = (name: string, command: string): string => `- ${yamlText(`${name}=${command}`)}`;
  const commented = (one: Found): string => `${entry(checkName(one), commandLine(one))}   # from ${one.from}`;
  if (checks.length === 0 && usable.length === 0)
    return [
      '# Without one the best outcome is "claimed": the agent says so, nobody has proved it.',
      "# checks:",
      "#   - tests=npm test",
      ...lackingLines(lacking),
    ].join("\n");
  if (checks.length === 0)
    return ["# checks:", ...usable.map((one) => `#   ${commented(one)}`), ...lackingLines(lacking)].join("\n");
  return [
    "checks:",
    ...checks.map(({ name, command }) => `  ${entry(name, command)}`),
    ...(usable.length === 0
      ? []
      : [
          "# Found too; one that is red now stays so unless the goal says otherwise:",
          ...usable.map((one) => `#  ${commented(one)}`),
        ]),
    ...lackingLines(lacking),
  ].join("\n");
}

/** No entry that could be uncommented: it would not work here. */
const lackingLines = (lacking: readonly (Found & { missing: string })[]): string[] =>
  lacking.map((one) => `# Left out, for ${one.missing} is not here: ${commandLine(one)} (from ${one.from})`);

const MADE = `# Makes the dependencies of a tree that is judged, inside the fence, and again
# only when a lockfile changes. It needs the package registries.`;
const COPIED = `# Checks get a copy of the dependencies that are here before the first turn. To
# have them made inside the fence whenever a lockfile changes, for which it needs
# the package registries:`;

function setupOf(setups: readonly Setup[], needsSetup: boolean): string {
  if (setups.length === 0) return "";
  const command = setups.length === 1 ? setups.map(commandLine).join("") : setups.map(grouped).join(" && ");
  const hidden = needsSetup ? "" : "# ";
  return `
${needsSetup ? MADE : COPIED}
${hidden}setup: ${yamlText(command)}
${hidden}network: registries
`;
}

const grouped = (setup: Setup): string => (setup.folder === undefined ? setup.command : `(${commandLine(setup)})`);

/** Plain where YAML takes it for a text, quoted where it would not. */
function yamlText(text: string): string {
  return /^[A-Za-z][\w ./=+-]*$/.test(text) && !/^(true|false|yes|no|on|off|null)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
