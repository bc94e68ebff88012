/** The name that was probably meant. */
const MAX_NAME_CHARS = 64;

export function nearest(word: string, names: readonly string[]): string | undefined {
  const scored = names
    .map((name) => ({ name, far: distance(word.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  const [best] = scored;
  return best !== undefined && best.far <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
}

/** Levenshtein's, with two neighbours swapped counting as one. */
function distance(a: string, b: string): number {
  if (a.length > MAX_NAME_CHARS || b.length > MAX_NAME_CHARS) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
