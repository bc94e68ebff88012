import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { VERSION } from "../../version.ts";
import { answerOf, isNewer, newerFinding } from "./doctor-newer.ts";

it("is newer by number, part by part, and never when it is no release", () => {
  expect(isNewer("0.2.0", "0.1.9")).toBe(true);
  expect(isNewer("0.10.0", "0.9.0")).toBe(true);
  expect(isNewer("1.0.0", "0.9.9")).toBe(true);
  for (const other of ["0.1.0", "0.0.9", "0.1.1-beta.1", "", "latest"]) expect(isNewer(other, "0.1.0")).toBe(false);
});

it.each([
  ["a version", '"0.2.0"', { is: "version", version: "0.2.0" }],
  ["no such package", '{"error":{"code":"E404","summary":"Not Found"}}', { is: "unknown" }],
  ["a login that is wanted", '{"error":{"code":"E401"}}', { is: "refused", code: "E401" }],
  ["nobody reached", '{"error":{"code":"ECONNREFUSED"}}', { is: "silent" }],
  ["nothing", "", { is: "silent" }],
  ["something else", "<html>", { is: "silent" }],
])("hears of npm: %s", (_, said, heard) => {
  expect(answerOf(said)).toEqual(heard);
});

it("does not say that npm was silent when it has answered that there is no such package", async () => {
  const folder = tempDir("npm");
  const npm = `#!/bin/sh\necho '{"error":{"code":"E404","summary":"Not Found"}}'\nexit 1\n`;
  writeFileSync(join(folder, "npm"), npm, { mode: 0o755 });
  const { is, says } = await newerFinding({ PATH: `${folder}:/usr/bin:/bin` }, { offline: false });
  expect([is, says]).toEqual(["ok", `${VERSION}, no release of it is in npm's registry`]);
});
