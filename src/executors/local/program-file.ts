/**
 * The file that a program is run from. In its working directory, so that it can import what lies there; gone before
 * anyone looks at what it made, and never written through a link that an earlier program left.
 */
import { chmodSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGES, PROGRAM_NAME, type Code, type Language } from "../../ports/executor.ts";

const EXTENSIONS: Readonly<Record<Language, string>> = {
  python: "py",
  javascript: "js",
  typescript: "ts",
  shell: "sh",
};

/** Modes: what the owner may, and all bits that can be set. */
const OWNERS = 0o700;
const ALL = 0o7777;
/** Of one that was closed. */
const MAX_FOLDERS = 1_000;

export const programFileName = (language: Language): string => `${PROGRAM_NAME}.${EXTENSIONS[language]}`;

export function writeProgram(folder: string, { language, text }: Code): void {
  writeFileSync(join(folder, programFileName(language)), text, { flag: "wx", mode: 0o644 });
}

/**
 * Of every language: a driver that was killed leaves one. A folder that a program closed is opened again, else nobody
 * could look at what is in it. What cannot be removed stays, and is never written over.
 */
export function removePrograms(folder: string): void {
  open(folder);
  for (const language of LANGUAGES) {
    const path = join(folder, programFileName(language));
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // A folder in its place, closed by the program.
      removeClosed(path);
    }
  }
}

function removeClosed(path: string): void {
  try {
    const folders = [path];
    for (const at of folders) {
      open(at);
      if (folders.length > MAX_FOLDERS) break;
      for (const entry of readdirSync(at, { withFileTypes: true }))
        if (entry.isDirectory()) folders.push(join(at, entry.name));
    }
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Whoever wants to write there is told.
  }
}

/** For its owner. A link has every bit, so what is behind one stays as it is. */
function open(folder: string): void {
  try {
    const { mode } = lstatSync(folder);
    if ((mode & OWNERS) !== OWNERS) chmodSync(folder, (mode & ALL) | OWNERS);
  } catch {
    // Gone, or somebody else's: whoever wants to write there is told.
  }
}
