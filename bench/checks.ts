/**
 * What a check costs over running its command by hand, in a large repository with large dependencies: from the judged
 * tree in the private repository to the verdict, after a change of some files. With a layer, and as a plain copy.
 */
import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { ChecksChild } from "./checks-child.ts";

const round = (n: number, digits = 1): number => Number(n.toFixed(digits));

export function checkCost(): object {
  const load = round(loadavg()[0] ?? 0);
  const rows = (["overlay", "copy"] as const).map((how) => {
    const child = join(import.meta.dirname, "../.cache/bench/bench/checks-child.js");
    const said = execFileSync(process.execPath, [child, how], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { changes, ...about } = JSON.parse(said) as ChecksChild;
    const measured = changes.map(({ files, handMs, checkMs, readyMs, writeMs }) => [
      `changed ${files}`,
      {
        checkMs: round(checkMs),
        byHandMs: round(handMs),
        onTopMs: round(checkMs - handMs),
        ratio: round(checkMs / handMs, 2),
        treeReadyMs: round(readyMs),
        writingThatManyFilesMs: round(writeMs),
      },
    ]);
    const row = { ...about, firstCheckMs: round(about.firstCheckMs, 0), prepareMs: round(about.prepareMs, 0) };
    return [how, { ...row, ...(Object.fromEntries(measured) as object) }] as const;
  });
  return { load, ...Object.fromEntries(rows) };
}
