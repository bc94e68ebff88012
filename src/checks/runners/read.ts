/** Reads back what code under test could write: never through links, nothing but plain files, bounded. */
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

const MAX_REPORTS = 500;
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

/** One that is too long is left out whole: a part of a report says nothing about the rest. Never rejects. */
export async function readReports(folder: string): Promise<string[]> {
  const texts: string[] = [];
  let left = MAX_TOTAL_BYTES;
  try {
    if (!(await lstat(folder)).isDirectory()) return [];
    for (const name of (await readdir(folder)).toSorted().slice(0, MAX_REPORTS)) {
      const text = await readPlain(join(folder, name), Math.min(left, MAX_REPORT_BYTES));
      if (text === undefined) continue;
      left -= text.length;
      texts.push(text);
    }
  } catch {
    // The folder is gone or closed: then there is no report.
  }
  return texts;
}

async function readPlain(path: string, maxBytes: number): Promise<string | undefined> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = await file.stat().then((found) => (found.isFile() ? found : { size: Infinity }));
    return size > maxBytes ? undefined : (await file.readFile()).toString("utf8");
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
