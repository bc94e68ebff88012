/** A shell command that runs in another folder than the one it is started in. Pure. */
import { shellWord } from "./shell-word.ts";

/** What a failing `cd` would not keep from running: `cd a && b; c`. */
const GOES_ON = /;|\n|\|\||(?<![&>])&(?![&>])/;
const LED = /^cd (?:'([^']*)'|([\w./-]+)) && (.*)$/s;

/** `folder`: relative; "" is where it is started. */
export function commandIn(folder: string, command: string): string {
  if (folder === "") return command;
  const word = shellWord(folder.startsWith("-") ? `./${folder}` : folder);
  if (!GOES_ON.test(command)) return `cd ${word} && ${command}`;
  return /[\n#]/.test(command) ? `cd ${word} && (\n${command}\n)` : `cd ${word} && (${command})`;
}

/** The folder that a simple `cd` leads to first, and what runs there. */
export function folderOf(command: string): { folder: string; command: string } {
  const [, quoted, plain, rest] = LED.exec(command.trim()) ?? [];
  return rest === undefined ? { folder: "", command } : { folder: quoted ?? plain ?? "", command: rest };
}
