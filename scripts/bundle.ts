/**
 * Bundles of the sources: some 180 files instead of 570, with what of zod and commander is used. Loading many small modules
 * was a third of a start (docs/decisions/0016-bundled.md).
 */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

export const ROOT = join(import.meta.dirname, "..");
const SOURCES = join(ROOT, "src");
/** Their code becomes part of ours, so their licences come along. */
const TAKEN_IN = ["commander", "zod"];
/** Plain JavaScript that other processes run, as it is. */
const PLAIN = ["checks/runners", "agents/messages"];

interface Bundle {
  /** Sources by the name of what is made of them. */
  entries: Record<string, string>;
  /** Emptied first, all but the types. All shared parts lie in it side by side: src/platform/own.ts counts on it. */
  folder: string;
}

export async function bundle({ entries, folder }: Bundle): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    if (name !== "types") rmSync(join(folder, name), { recursive: true });
  }
  const made = await rolldown({ input: entries, platform: "node", external: isForeign, checks: QUIET });
  await made.write({ dir: folder, format: "esm", chunkFileNames: "[name].js" });
  for (const place of PLAIN) {
    mkdirSync(join(folder, place), { recursive: true });
    for (const file of readdirSync(join(SOURCES, place)).filter((name) => /\.[cm]js$/.test(name)))
      copyFileSync(join(SOURCES, place, file), join(folder, place, file));
  }
  const licences = TAKEN_IN.map(
    (name) => `${name}\n\n${readFileSync(join(ROOT, "node_modules", name, "LICENSE"), "utf8")}`,
  );
  writeFileSync(join(folder, "LICENSES"), licences.join("\n\n"));
}

/** A module imported both at once and on use is what a fast start is made of here. */
const QUIET = { ineffectiveDynamicImport: false };

function isForeign(id: string): boolean {
  if (id.startsWith(".") || id.startsWith("/")) return false;
  return !TAKEN_IN.some((name) => id === name || id.startsWith(`${name}/`));
}

export const source = (path: string): string => join(SOURCES, path);
