import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** What a fresh Node says after running this as an ES module. */
const inNode = (source: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", source], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    }),
  );
const own = (file: string): string => JSON.stringify(join(import.meta.dirname, file));

/** What takes node:http, and what is loaded before the agent is started. */
const DRIVER = [
  "egress.ts",
  "gateway.ts",
  "../agents/claude.ts",
  "../views/cli/run-here.ts",
  "../views/cli/drive.ts",
].map((file) => join(import.meta.dirname, file));

describe("a lean start", () => {
  it("leaves the code of fetch alone, whatever of a driver is loaded", () => {
    const seen = inNode(`
      const { plainHttp } = await import(${own("gateway-upstream.ts")});
      const { createServer } = plainHttp();
      for (const file of ${JSON.stringify(DRIVER)}) await import(file);
      console.log(JSON.stringify([typeof createServer, process.moduleLoadList.some((name) => name.includes("undici"))]));`);
    expect(seen).toEqual(["function", false]);
  });

  it("tells zod, before it is loaded, not to compile schemas of which a few values are read", () => {
    const told = (start: string): unknown =>
      inNode(`${start} const { config } = await import("zod"); console.log(config().jitless === true);`);
    expect(told(`(await import(${own("lean-start.ts")})).leanStart();`)).toBe(true);
    expect(told("")).toBe(false);
  });
});
