/**
 * `npm run campaign -- [PART…] [COUNT=N…]`: the promises of docs/promises.md with their full counts. Each part writes
 * its result under its own name into bench/campaign.json, with the command that made it; without a part, all of them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setup } from "../test/support/build-programs.ts";
import { cleanUp } from "../test/support/file-end.ts";
import { writeDurably } from "../src/platform/files.ts";
import { countedParts } from "./campaign/counts.ts";
import { faults, git } from "./campaign/faults.ts";
import { kills } from "./campaign/kills.ts";
import { laws } from "./campaign/laws.ts";
import type { Part } from "./campaign/part.ts";
import { cheats, honest } from "./campaign/verdicts.ts";

const PARTS: readonly Part[] = [honest, cheats, kills, faults, git, laws, ...countedParts];
const FILE = process.env["PAWL_CAMPAIGN_FILE"] ?? join(import.meta.dirname, "campaign.json");
const READABLE = 0o644;

function usage(): string {
  const lines = PARTS.map(({ name, about, shows, counts }) => {
    const given = Object.entries(counts).map(([count, value]) => `${count}=${value}`);
    return `  ${name.padEnd(9)} ${about} (${shows}) ${given.join(" ")}`;
  });
  return ["npm run campaign -- [PART…] [COUNT=N…]", "", ...lines, "  all       every part"].join("\n");
}

function chosen(args: readonly string[]): { parts: readonly Part[]; counts: Record<string, number> } {
  const given = args.filter((arg) => arg.includes("=")).map((arg) => arg.split("=") as [string, string]);
  const names = args.filter((arg) => !arg.includes("=") && arg !== "all");
  const parts = names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
  const known = new Set(parts.flatMap((part) => Object.keys(part.counts)));
  const counts = Object.fromEntries(given.map(([name, value]) => [name, Number(value)]));
  const isWrong = Object.entries(counts).some(([name, value]) => !known.has(name) || !Number.isInteger(value));
  if (isWrong || names.some((name) => !PARTS.some((part) => part.name === name))) {
    console.error(usage());
    process.exit(2);
  }
  return { parts, counts };
}

const { parts, counts } = chosen(process.argv.slice(2));
await setup();
for (const part of parts) {
  const own = Object.fromEntries(Object.entries(part.counts).map(([name, usual]) => [name, counts[name] ?? usual]));
  const command = ["npm run campaign --", part.name, ...Object.entries(own).map(([name, n]) => `${name}=${n}`)].join(
    " ",
  );
  console.error(`\n${command}\n  ${part.about}`);
  const began = performance.now();
  const { wrongs, ...figures } = await part.run(own);
  const seconds = Math.round((performance.now() - began) / 1_000);
  const result = { command, shows: part.shows, seconds, ...figures, wrongs };
  // Read again each time: parts may run one by one, and a long one must not undo what came meanwhile.
  const all = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Record<string, unknown>) : {};
  writeDurably(FILE, `${JSON.stringify({ ...all, [part.name]: result }, undefined, 2)}\n`, READABLE);
  console.log(JSON.stringify({ part: part.name, ...result }));
  if (wrongs.length > 0) process.exitCode = 1;
}
await cleanUp();
