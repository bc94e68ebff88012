/** What a test counted, for the campaign: one JSON line each into the file that PAWL_FIGURES names; else nothing. */
import { appendFileSync } from "node:fs";

/** `npm run campaign` takes every point where the suite takes a sample. */
export const FULL = process.env["PAWL_CAMPAIGN"] === "full";

export function figure(id: string, values: Readonly<Record<string, number | string | readonly number[]>>): void {
  const file = process.env["PAWL_FIGURES"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ id, ...values })}\n`);
}

/** How often, where the campaign may say otherwise. */
export function countOf(name: string, usual: number): number {
  return Number(process.env[name] ?? usual);
}
