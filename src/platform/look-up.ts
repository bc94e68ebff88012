/** A table by a name that comes from outside: `constructor` and `toString` are in it only where it has them itself. */
export const lookUp = <T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
