/**
 * The file that a program is run from. In its working directory, so that it can import what lies there; gone before
 * anyone looks at what it made, and never written through a link that an earlier program left.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGES, PROGRAM_NAME, type Code, type Language } from "../../ports/executor.ts";

const EXTENSIONS: Readonly<Record<Language, string>> = {
  python: "py",
  javascript: "js",
  typescript: "ts",
  shell: "sh",
};

export const programFileName = (language: Language): string => `${PROGRAM_NAME}.${EXTENSIONS[language]}`;

export function writeProgram(folder: string, { language, text }: Code): void {
  writeFileSync(join(folder, programFileName(language)), text, { flag: "wx", mode: 0o644 });
}

/** Of every language: a driver that was killed leaves one. */
export function removePrograms(folder: string): void {
  for (const language of LANGUAGES) rmSync(join(folder, programFileName(language)), { recursive: true, force: true });
}
