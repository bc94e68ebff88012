/** The sessions of scripted agents: one file of JSON lines each, written before and after a turn. */
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Usage } from "../../events.ts";
import { makePrivateDir } from "../../platform/files.ts";
import type { Found, OpenRequest, TurnEnd } from "../../ports.ts";

type Line =
  | { type: "prompt"; uuid: string; session: OpenRequest["session"]; usage: Usage; n: number }
  | { type: "tool"; uuid: string; name: string }
  | { type: "usage"; uuid: string; usage: Usage }
  | { type: "end"; uuid: string; end: TurnEnd };

export interface Record {
  /** Notes the prompt and returns its number in this home, from 1. */
  prompt(uuid: string, usage: Usage): number;
  tool(uuid: string, name: string): void;
  spent(uuid: string, usage: Usage): void;
  end(uuid: string, end: TurnEnd): void;
}

const directoryOf = (home: string): string => join(home, "scripted");
const fileOf = (home: string, ref: string): string => join(directoryOf(home), `${encodeURIComponent(ref)}.jsonl`);
/** A byte for every prompt of the home: a run of many sessions must not read them all to know its number. */
const tallyOf = (home: string): string => join(directoryOf(home), "prompts");

export function openRecord({ home, session }: Pick<OpenRequest, "home" | "session">): Record {
  makePrivateDir(directoryOf(home));
  const file = fileOf(home, session.ref);
  // A process that was killed may have noted a prompt and not counted it.
  const own = linesOf(file).map((line) => (line.type === "prompt" ? line.n : 0));
  let prompts = Math.max(statSync(tallyOf(home), { throwIfNoEntry: false })?.size ?? 0, ...own);
  const write = (line: Line): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    prompt(uuid, usage) {
      prompts += 1;
      write({ type: "prompt", uuid, session, usage, n: prompts });
      appendFileSync(tallyOf(home), ".");
      return prompts;
    },
    tool: (uuid, name) => write({ type: "tool", uuid, name }),
    spent: (uuid, usage) => write({ type: "usage", uuid, usage }),
    end: (uuid, end) => write({ type: "end", uuid, end }),
  };
}

export function inspectScripted({ home, session }: Pick<OpenRequest, "home" | "session">, uuid: string): Found {
  const lines = linesOf(fileOf(home, session.ref)).filter((line) => line.uuid === uuid);
  if (lines.length === 0) return { is: "unknown" };
  const counts = new Map<string, number>();
  let usage: Usage | undefined;
  for (const line of lines) {
    if (line.type === "tool") counts.set(line.name, (counts.get(line.name) ?? 0) + 1);
    if (line.type === "usage" || line.type === "prompt") usage = line.usage;
    if (line.type === "end") usage = line.end.usage;
  }
  const tools = [...counts];
  const ended = lines.find((line) => line.type === "end");
  if (ended !== undefined && ended.end.outcome.is === "done") return { is: "ended", end: ended.end, tools };
  if (usage === undefined) return { is: "unknown" };
  return { is: "cut", usage, tools, messageId: null };
}

/** A torn last line is what a killed process leaves. */
function linesOf(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((text) => {
      try {
        return [JSON.parse(text) as Line];
      } catch {
        return [];
      }
    });
}
