import { expect, it } from "vitest";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import { missingIn } from "./not-installed.ts";

const LOCK = JSON.stringify({ packages: { "": {}, "node_modules/a": { version: "1.0.0" } } });

function folder(files: Readonly<Record<string, string>>): string {
  const root = tempDir("project");
  writeFiles(root, files);
  return root;
}

it("names packages that a lockfile asks for and that are not there, and both ways to have them", () => {
  const words = missingIn(folder({ "package.json": "{}", "package-lock.json": LOCK }));
  expect(words).toContain("no packages are installed in node_modules");
  expect(words).toContain("(npm ci)");
  expect(words).toContain("--setup 'npm ci' --network registries");
});

it("finds them in folders where the top is no project", () => {
  const words = missingIn(folder({ "web/package.json": "{}", "web/yarn.lock": "", "api/go.mod": "" }));
  expect(words).toContain("web/node_modules");
  expect(words).toContain("(cd web && yarn install --frozen-lockfile)");
});

it.each([
  ["they are there", { "package.json": "{}", "package-lock.json": LOCK, "node_modules/a/index.js": "" }, []],
  ["they are brought from elsewhere", { "package.json": "{}", "package-lock.json": LOCK }, ["node_modules"]],
  ["nothing is asked for", { "package.json": "{}", "package-lock.json": '{"packages":{"":{}}}' }, []],
  ["there is no lockfile", { "package.json": "{}" }, []],
  ["they need no folder", { "package.json": "{}", "yarn.lock": "", ".pnp.cjs": "" }, []],
  ["it is another kind of project", { "go.mod": "" }, []],
] as const)("says nothing where %s", (_, files, copied) => {
  expect(missingIn(folder(files), copied)).toBeUndefined();
});
