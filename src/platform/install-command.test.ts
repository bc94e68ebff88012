import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import { installCommand } from "./install-command.ts";

const NAME = "some-package@1";

function at(...path: string[]): { top: string; root: string } {
  const top = tempDir("installed");
  const root = join(top, ...path);
  mkdirSync(root, { recursive: true });
  return { top, root };
}

it("installs beside a pawl that all projects share, in the same prefix", () => {
  const { top, root } = at("lib/node_modules/pawl");
  expect(installCommand(NAME, root)).toBe(`npm install -g --prefix ${top} ${NAME}`);
});

it("says when that takes the rights of another", () => {
  const [top, root] = ["/no/such/prefix", "/no/such/prefix/lib/node_modules/pawl"];
  expect(installCommand(NAME, root)).toBe(`sudo npm install -g --prefix ${top} ${NAME}`);
});

it("installs in the project that has pawl as a dependency, wherever it is asked", () => {
  const { top, root } = at("node_modules/pawl");
  writeFiles(top, { "package.json": "{}" });
  expect(installCommand(NAME, root)).toBe(`npm install --prefix ${top} ${NAME}`);
  const other = at("my lib/lib/node_modules/pawl");
  writeFiles(other.top, { "my lib/lib/package.json": "{}" });
  expect(installCommand(NAME, other.root)).toBe(`npm install --prefix '${other.top}/my lib/lib' ${NAME}`);
});

it("installs by pnpm what pnpm has installed", () => {
  const { top, root } = at("node_modules/.pnpm/pawl@0.1.0/node_modules/pawl");
  expect(installCommand(NAME, root)).toBe(`pnpm add --dir ${top} ${NAME}`);
  const shared = at("pnpm/global/5/node_modules/.pnpm/pawl@0.1.0/node_modules/pawl");
  expect(installCommand(NAME, shared.root)).toBe(`pnpm add --global ${NAME}`);
});

it("completes a checkout, whose own packages for development have everything", () => {
  const { root } = at("pawl");
  expect(installCommand(NAME, root)).toBe(`npm install --prefix ${root} --include=dev --include=optional`);
});
