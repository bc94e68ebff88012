/** A place inside a JSON value: `a.b[0].c`; keys with other characters as `["a b"]`. */

const STEP = /(?:^|\.)([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** undefined for what is no path. */
export function stepsOf(path: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  for (let end = 0; end < path.length; end = STEP.lastIndex) {
    STEP.lastIndex = end;
    const match = STEP.exec(path);
    if (match === null) return undefined;
    const [, key, index, quoted] = match;
    if (quoted !== undefined) steps.push(JSON.parse(quoted) as string);
    else steps.push(key ?? Number(index));
  }
  return steps.length === 0 ? undefined : steps;
}

/** undefined where nothing is; only what the value itself has. */
export function valueAt(value: unknown, path: string): unknown {
  return (stepsOf(path) ?? []).reduce<unknown>((inside, step) => {
    if (typeof inside !== "object" || inside === null || !Object.hasOwn(inside, step)) return undefined;
    return (inside as Record<string | number, unknown>)[step];
  }, value);
}
