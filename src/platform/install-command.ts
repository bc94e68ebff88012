/** How this pawl was installed, and so which command puts another package where pawl finds it. */
import { accessSync, constants, existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ownFile } from "./own.ts";
import { shellWord } from "./shell-word.ts";

const MODULES = "node_modules";
/** pnpm keeps packages here, each with links to what it may see. */
const PNPM = `${sep}${MODULES}${sep}.pnpm${sep}`;
const PNPM_GLOBAL = /[/\\]pnpm[/\\]global[/\\]/;

/** `packages`: as npm names them. `root`: where pawl's own package lies. */
export function installCommand(packages: string, root = fileURLToPath(ownFile(".."))): string {
  const home = root.endsWith(sep) ? root.slice(0, -1) : root;
  const around = dirname(home);
  const project = dirname(around);
  if (home.includes(PNPM)) {
    const where = home.slice(0, home.indexOf(PNPM));
    return PNPM_GLOBAL.test(home) ? `pnpm add --global ${packages}` : `pnpm add --dir ${shellWord(where)} ${packages}`;
  }
  // A checkout: what it is developed with has all of them.
  if (basename(around) !== MODULES) return `npm install --prefix ${shellWord(home)} --include=dev --include=optional`;
  // No project has a folder of packages without a description of itself: npm's own folder for all users does.
  if (basename(project) === "lib" && !existsSync(join(project, "package.json")))
    return `${isWritable(around) ? "" : "sudo "}npm install -g --prefix ${shellWord(dirname(project))} ${packages}`;
  return `npm install --prefix ${shellWord(project)} ${packages}`;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
