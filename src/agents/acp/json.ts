/** What an agent says is read field by field: nothing of it is trusted to have the form that it should have. */

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textAt = (value: Json, key: string): string => {
  const found = value[key];
  return typeof found === "string" ? found : "";
};

export const objectAt = (value: Json, key: string): Json => {
  const found = value[key];
  return isObject(found) ? found : {};
};

export const listAt = (value: Json, key: string): Json[] => {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
};

/** A whole number that can be counted with; 0 for everything else. */
export const countAt = (value: Json, key: string): number => {
  const found = value[key];
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? found : 0;
};

export function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
