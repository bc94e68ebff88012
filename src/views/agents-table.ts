/** What every agent can and cannot do, as a table: the same for the terminal and, in Markdown, for docs/agents.md. */
import type { KnownAgent } from "../compose/known-agents.ts";
import type { Gap } from "../ports.ts";

/** What is asked of an agent, with what it means, in the order of the table. */
const MEANS: Readonly<Record<Gap["cannot"], string>> = {
  "say-now": "hears what is said during a turn",
  "switch-model": "goes on with another model in the same conversation",
  "switch-model-now": "takes another model during a turn",
  resume: "goes on with a conversation after a restart",
  rewind: "goes back to an earlier message",
  inspect: "can tell afterwards what became of a turn that nobody saw the end of",
  "report-cost": "tells what it cost, in dollars",
  ask: "asks a person for permissions and answers",
  "done-call": "has a tool to say that it is done",
};
const ABILITIES = Object.entries(MEANS).map(([ability, means]) => ({ ability: ability as Gap["cannot"], means }));

const can = ({ gaps }: KnownAgent, ability: Gap["cannot"]): boolean => !gaps.some(({ cannot }) => cannot === ability);

/** For the terminal: what it cannot do, in one line. */
export function cannotWords(agent: KnownAgent): string {
  const missing = ABILITIES.filter(({ ability }) => !can(agent, ability)).map(({ ability }) => ability);
  return missing.length === 0 ? "-" : missing.join(", ");
}

export function agentsMarkdown(agents: readonly KnownAgent[]): string {
  const head = [
    "agent",
    "what it is",
    "tried with",
    "login",
    "key stays outside",
    ...ABILITIES.map((one) => one.ability),
  ];
  const rows = agents.map((agent) => [
    `\`${agent.name}\``,
    agent.about,
    agent.tried ?? "not tried",
    agent.wants,
    agent.keyStaysOutside,
    ...ABILITIES.map(({ ability }) => (can(agent, ability) ? "yes" : "-")),
  ]);
  return [
    table([head, ...rows]),
    ABILITIES.map(({ ability, means }) => {
      const reasons = reasonsFor(agents, ability);
      return `- \`${ability}\`: ${means}.${reasons === "" ? "" : ` Where not: ${reasons}.`}`;
    }).join("\n"),
  ].join("\n\n");
}

/** For the terminal: what somebody cannot do, and why. */
export function reasonLines(agents: readonly Pick<KnownAgent, "name" | "gaps">[]): string[] {
  return ABILITIES.map(({ ability }) => [ability, reasonsFor(agents, ability)] as const)
    .filter(([, reasons]) => reasons !== "")
    .map(([ability, reasons]) => `${ability}: ${reasons}`);
}

/** The reasons that are given for not having it, each once; who gives it, where there is more than one. */
function reasonsFor(agents: readonly Pick<KnownAgent, "name" | "gaps">[], ability: Gap["cannot"]): string {
  const given = new Map<string, string[]>();
  for (const { name, gaps } of agents) {
    const gap = gaps.find(({ cannot }) => cannot === ability);
    if (gap !== undefined) given.set(gap.reason, [...(given.get(gap.reason) ?? []), name]);
  }
  const words = [...given].map(([reason, names]) => (given.size === 1 ? reason : `${reason} (${names.join(", ")})`));
  return words.join("; ");
}

/** As the formatter of this repository leaves it. */
function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
