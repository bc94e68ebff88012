/** Numbers and times as people read them. */
import type { Spent } from "../../loop/budget.ts";
import { counted, grouped } from "../../plural.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const CENT = 0.01;

export function duration(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(Math.max(0, ms) / SECOND_MS).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  const pad = (n: number): string => String(Math.floor(n)).padStart(2, "0");
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${pad((ms % MINUTE_MS) / SECOND_MS)} s`;
  return `${Math.floor(ms / HOUR_MS)} h ${pad((ms % HOUR_MS) / MINUTE_MS)} min`;
}

export function dollars(usd: number): string {
  return usd > 0 && usd < CENT ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `~` where a part is estimated; what nobody knows is said, never counted as nothing. */
export function cost({
  usd,
  unknownTurns,
  estimated,
  turns,
}: Pick<Spent, "usd" | "unknownTurns" | "estimated" | "turns">): string {
  if (unknownTurns > 0 && unknownTurns === turns) return "unknown";
  const known = `${estimated ? "~" : ""}${dollars(usd)}`;
  return unknownTurns === 0 ? known : `${known} and ${counted(unknownTurns, "turn")} of unknown cost`;
}

export { counted, grouped };

/** Local time; with the day when that is not today. */
export function moment(at: number, { now }: { now: number }): string {
  const date = new Date(at);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return date.toDateString() === new Date(now).toDateString() ? time : `${day(date)} ${time}`;
}

/** With the zone: for what may be read elsewhere, or much later. */
export function zonedMoment(at: number, { now }: { now: number }): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = minutes === 0 ? "" : `${minutes < 0 ? "-" : "+"}${hours}${rest === 0 ? "" : `:${two(rest)}`}`;
  return `${moment(at, { now })} UTC${offset}`;
}

export function timeOfDay(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const two = (n: number): string => String(n).padStart(2, "0");
const day = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** Columns as wide as their widest cell of at most `maxWidth`: one that is longer moves only its own row. The last is not padded. */
export function columns(rows: readonly (readonly string[])[], { maxWidth = Infinity } = {}): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      if (cell.length <= maxWidth) widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
