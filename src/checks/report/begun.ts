/**
 * Runners that began and ended without their report: a file could not be loaded, or something left the process before
 * its tests were over. The exit code tells which, and with 0 nobody would hear of it.
 */
import type { RawTest } from "./report.ts";

const PREFIX = "runner ";

export const isRunner = (id: string): boolean => id.startsWith(PREFIX);

/** How both kinds of files begin; the rest of a report may be long. */
const HEAD = /^\{"(?<what>kind|begun)":"(?<runner>\w{1,20})"/;

/** Their ids, from what pawl's listeners in them wrote. */
export function leftEarly(texts: readonly string[]): string[] {
  const heads = texts.map((text) => HEAD.exec(text)?.groups);
  const of = (what: string): string[] =>
    heads.filter((head) => head?.["what"] === what).map((head) => head?.["runner"] ?? "");
  const told = new Set(of("kind"));
  return of("begun")
    .filter((runner) => !told.has(runner))
    .map((runner) => `${PREFIX}${runner}`);
}

/** Whether some runner was told which of its tests to run, or says that it left some out. */
export const isChosen = (texts: readonly string[], output: string): boolean =>
  texts.some((text) => /^\{"begun":"\w{1,20}","some":true/.test(text)) || /\b\d+ deselected\b/.test(output);

export const asBroken = (id: string): RawTest => ({
  names: [id],
  status: "fail",
  broken: true,
  said: `${id.slice(PREFIX.length)} began and ended without a report of its tests`,
});
