/** How people write amounts: `1h30m`, `5` dollars, `120k` tokens, `2MB`. What cannot be read is told in one line. */
import { z } from "zod";

const SECOND_MS = 1_000;
const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND_MS,
  m: 60 * SECOND_MS,
  h: 3_600 * SECOND_MS,
  d: 86_400 * SECOND_MS,
};
const COUNT_OF: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };
const BYTES_OF: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** Longer than any run; keeps sums of times exact. */
const MAX_DURATION_MS = 366 * 86_400 * SECOND_MS;

type Reader = (text: string) => number | undefined;

/** Whole milliseconds. A plain number is seconds; units in any case, blanks between them. */
export const readDuration: Reader = (given) => {
  const text = given.toLowerCase();
  const plain = /^\d+(\.\d+)?$/.exec(text);
  if (plain !== null) return within(Math.round(Number(text) * SECOND_MS), MAX_DURATION_MS);
  if (!/^(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)/g)) {
    total += Number(amount) * (DURATION_MS[unit ?? ""] ?? Number.NaN);
  }
  return within(Math.round(total), MAX_DURATION_MS);
};

const readScaled =
  (scale: Readonly<Record<string, number>>, form: RegExp): Reader =>
  (text) => {
    const match = form.exec(text);
    if (match === null) return undefined;
    const value = Number(match[1]) * (scale[(match[2] ?? "").toLowerCase()] ?? Number.NaN);
    return Number.isInteger(value) ? within(value, Number.MAX_SAFE_INTEGER) : undefined;
  };
export const readCount = readScaled(COUNT_OF, /^(\d+(?:\.\d+)?)([kKmMgG]?)$/);
export const readBytes = readScaled(BYTES_OF, /^(\d+(?:\.\d+)?)([kKmMgG]?)(?:i?[bB])?$/);

export const readMoney: Reader = (text) => {
  const match = /^\$?(\d+(?:\.\d+)?|\.\d+)$/.exec(text);
  return match === null ? undefined : Number(match[1]);
};

function within(value: number, max: number): number | undefined {
  return Number.isFinite(value) && value <= max ? value : undefined;
}

const amount = (read: Reader, { says, min }: { says: string; min: number }) =>
  z.union([z.string(), z.number()], says).transform((given, context) => {
    const value = read(String(given).trim());
    if (value !== undefined && value >= min) return value;
    context.addIssue({ code: "custom", message: says });
    return z.NEVER;
  });

export const countOrNone = amount(readCount, { says: "must be a whole number, 0 for none", min: 0 });
export const count = amount(readCount, { says: "must be a whole number above 0, such as 20 or 120k", min: 1 });
export const money = amount(readMoney, {
  says: "must be US dollars above 0, such as 5 or 0.50",
  min: Number.MIN_VALUE,
});
export const duration = amount(readDuration, { says: "must be a time above 0, such as 90s, 30m or 1h30m", min: 1 });
export const durationOrNone = amount(readDuration, { says: "must be a time, such as 30s, or 0", min: 0 });
export const bytes = amount(readBytes, { says: "must be a size above 0, such as 2MB", min: 1 });

/** `1h30m`, `90s`, `250ms`: what `readDuration` reads back. */
export function sayDuration(ms: number): string {
  if (ms < SECOND_MS) return `${ms}ms`;
  const parts = (["d", "h", "m", "s"] as const).reduce(
    ({ left, text }, unit) => {
      const size = DURATION_MS[unit] ?? 1;
      const whole = unit === "s" ? Math.round((left / size) * 1_000) / 1_000 : Math.floor(left / size);
      return { left: left - whole * size, text: whole === 0 ? text : `${text}${whole}${unit}` };
    },
    { left: ms, text: "" },
  );
  return parts.text;
}
