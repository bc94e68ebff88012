/** What make would run for its targets, as far as a Makefile says it plainly: no functions, no patterns. Pure. */

interface Rule {
  before: string[];
  lines: string[];
}

const MAX_EXPANSIONS = 6;
const VARIABLE = /^(\w+)\s*[:?+]*=\s*(.*)$/;
const RULE = /^([^\t#=:][^#=:]*):(?!=)([^=#;]*)(?:;(.*))?/;
/** With these a failure may be passed over. */
const LENIENT = /^-\w*[ik]|^--(ignore-errors|keep-going)$/;

/** Lines in their order, each a shell of its own; `isSure`: they are run, and a failure is make's. `isNever`: no such file. */
export function recipesOf(
  makefile: string,
  words: readonly string[],
  isNever: (target: string) => boolean,
): { line: string; isSure: boolean }[] {
  const { rules, variables } = read(makefile);
  const plain = words.filter((word, at) => !/^-|=/.test(word) && !/^-[Cf]$/.test(words[at - 1] ?? ""));
  const first = [...rules.keys()].find((name) => !name.startsWith("."));
  const targets = plain.length > 0 ? plain : first === undefined ? [] : [first];
  const isStrict = !words.some((word) => LENIENT.test(word)) && !rules.has(".IGNORE");
  const done = new Set<string>();
  const linesOf = (target: string): { line: string; isSure: boolean }[] => {
    const rule = rules.get(target);
    if (rule === undefined || done.has(target)) return [];
    done.add(target);
    const isRun = rules.get(".PHONY")?.before.includes(target) === true || isNever(target);
    const own = rule.lines.map((text) => {
      const [, marks = "", line = ""] = /^\s*([@+-]*)\s*(.*)$/s.exec(expanded(text, variables)) ?? [];
      return { line, isSure: isStrict && isRun && !marks.includes("-") };
    });
    return [...rule.before.flatMap(linesOf), ...own];
  };
  return targets.flatMap(linesOf);
}

function read(makefile: string): { rules: Map<string, Rule>; variables: Map<string, string> } {
  const rules = new Map<string, Rule>();
  const variables = new Map([["MAKE", "make"]]);
  let current: Rule[] = [];
  for (const line of makefile.replaceAll(/\\\n/g, " ").split("\n")) {
    const [, name, value = ""] = VARIABLE.exec(line) ?? [];
    const [, targets, before = "", inline] = RULE.exec(line) ?? [];
    if (line.startsWith("\t")) for (const rule of current) rule.lines.push(line.slice(1));
    else if (name !== undefined) variables.set(name, value.trim());
    else if (targets !== undefined)
      current = split(expanded(targets, variables)).map((target) => {
        const rule = rules.get(target) ?? { before: [], lines: [] };
        rule.before.push(...split(expanded(before, variables)).filter((one) => one !== "|"));
        if (inline !== undefined) rule.lines.push(inline);
        rules.set(target, rule);
        return rule;
      });
  }
  return { rules, variables };
}

/** With what it says of its own variables put in their place. */
export const withVariables = (makefile: string): string => expanded(makefile, read(makefile).variables);

const split = (text: string): string[] => text.split(/[\s:]+/).filter((word) => word !== "");

/** What the Makefile does not say itself stays as it is. */
function expanded(text: string, variables: ReadonlyMap<string, string>): string {
  let now = text;
  for (let n = 0; n < MAX_EXPANSIONS; n += 1)
    now = now.replaceAll(/\$[({](\w+)[)}]/g, (all, name: string) => variables.get(name) ?? all);
  return now.replaceAll("$$", "$");
}
