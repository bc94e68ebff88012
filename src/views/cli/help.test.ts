import { describe, expect, it } from "vitest";
import { commandNamed } from "./command.ts";
import { helpNames, overview } from "./help.ts";
import { COMMANDS } from "./table.ts";

const NAMES = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];
/** Of an example that cannot be broken. */
const MAX_COLUMNS = 100;
const SCREEN = { lines: 24, columns: 80 };

async function helpOf(name: keyof typeof COMMANDS): Promise<string> {
  const command = await commandNamed(name, () => undefined);
  let text = "";
  const writeOut = (some: string): void => void (text += some);
  command.configureOutput({ writeOut, getOutHelpWidth: () => SCREEN.columns });
  command.outputHelp();
  return text;
}

describe("help", () => {
  it("of pawl fits a screen of 80 by 24 and has every command", () => {
    const lines = overview().trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(SCREEN.lines);
    expect(lines.filter((line) => line.length > SCREEN.columns)).toEqual([]);
    expect(NAMES.filter((name) => !helpNames().includes(name))).toEqual([]);
    const shown = lines.flatMap((line) => /^.{8}((?:[a-z]+ )+) /.exec(line)?.[1]?.trim().split(" ") ?? []);
    expect(NAMES.filter((name) => !shown.includes(name))).toEqual([]);
  });

  it.each(NAMES)("of %s has examples", async (name) => {
    const text = await helpOf(name);
    const [, examples] = text.split(/^Examples?:\n(?= {2}\S)/m);
    expect(examples).toMatch(new RegExp(`\\bpawl ${name}\\b`));
    expect(text.split("\n").filter((line) => line.length > MAX_COLUMNS)).toEqual([]);
  });

  it("of run begins with an example and the ten most used options, on the first screen", async () => {
    const first = (await helpOf("run")).split("\n").slice(0, SCREEN.lines).join("\n");
    expect(first).toContain('pawl run "make the tests pass" --check "npm test"');
    expect(first.match(/^ {2}(-\w, )?--\w/gm)).toHaveLength(10);
    for (const flag of ["--check", "--max-cost", "--max-iterations", "--model", "--dry-run"])
      expect(first).toContain(flag);
  });
});
