/**
 * Tests whose names are made while they run: from chance, the time, or what the product returns. No name of theirs stands
 * in the file, so that nothing can be said of one that is gone but how many there were.
 */
import type { TestSource, TestSources } from "./test-sources.ts";

const MADE = "*";

/** By id, what stays of the name; none of those whose name stands in the text as it is. */
export async function madeNames(ids: readonly string[], sources: TestSources): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  for (const id of ids) {
    const source = await sources.of(id);
    const group = source === undefined ? undefined : groupOf(id, source);
    if (group !== undefined) made.set(id, group);
  }
  return made;
}

/** pytest has what a test was given in brackets behind its name. */
const GIVEN = /\[.*\](?: \(\d+\))?$/s;

function groupOf(id: string, { path, names, text }: TestSource): string | undefined {
  const kept = names.map((name) => (text.has(name.replace(/ \(\d+\)$/, "")) ? name : MADE));
  const isMade = kept.includes(MADE) || (id.includes("::") && GIVEN.test(id));
  return isMade ? [path, ...kept].join(" > ") : undefined;
}
