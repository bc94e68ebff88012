/** What one check can see of the reports of another that runs at the same time: nothing. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { judgedPlace } from "../../test/support/judged-place.ts";

it("a check sees the folder of its own reports alone, not that of another at the same time", async () => {
  const place = await judgedPlace({ files: { "a.txt": "a\n" }, reports: true });
  onTestFinished(() => place.close());
  const another = join(place.root, "state/runs/r-judged/check-reports/another/out");
  mkdirSync(another, { recursive: true });
  writeFileSync(join(another, "report.xml"), "<testsuite/>");
  const { verdict, output } = await place.judge(
    "find /run/pawl-reports -mindepth 1 -maxdepth 1 | wc -l; find /run/pawl-reports -name report.xml",
  );
  expect([verdict.is, output]).toEqual(["pass", "1\n"]);
});
