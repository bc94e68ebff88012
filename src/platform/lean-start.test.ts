import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const tellsSettings = (start: string): string =>
  execFileSync(
    process.execPath,
    ["-e", `${start}import("zod").then(({ config }) => console.log(config().jitless === true))`],
    { cwd: import.meta.dirname, encoding: "utf8" },
  ).trim();

it("tells zod, before it is loaded, not to compile schemas of which a few values are read", () => {
  const leanStart = JSON.stringify(join(import.meta.dirname, "lean-start.ts"));
  expect(tellsSettings(`require(${leanStart}).leanStart();`)).toBe("true");
  expect(tellsSettings("")).toBe("false");
});
