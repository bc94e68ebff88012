/** Numbers with their nouns, as people read them. */

export function counted(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
}

export function grouped(n: number): string {
  // Not toLocaleString: loading the locale data takes longer than the rest of the text.
  return String(n).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
