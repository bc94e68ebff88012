/** The import law and the size limit of `src`, as stated in AGENTS.md. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { VERSION } from "../../src/version.ts";

const SRC = join(import.meta.dirname, "../../src");
const MAX_LINES = 400;
const MAX_RECIPE_LINES = 150;

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".ts"));
const sources = files.filter((f) => !f.endsWith(".test.ts"));
const text = (file: string): string => readFileSync(join(SRC, file), "utf8");
const lines = (file: string): number => text(file).split("\n").length - 1;

/** A room is a top-level file or folder of src. */
const room = (file: string): string =>
  file.includes("/") ? file.slice(0, file.indexOf("/")) : file.replace(/\.ts$/, "");

const CONTRACTS = ["events", "spec", "errors", "version", "verdict-defaults", "agent-entry", "plural"];
const ADAPTERS = ["agents", "workspace", "checks", "executors", "forges", "journal"];
const BELOW_VIEWS = [...CONTRACTS, "ports", "config", "platform", "loop", "recipes", "standin", ...ADAPTERS];
const MAY_IMPORT: Record<string, string[]> = {
  version: [],
  plural: [],
  spec: [],
  events: ["spec"],
  "verdict-defaults": ["spec"],
  "agent-entry": ["spec"],
  errors: ["events"],
  ports: [...CONTRACTS],
  platform: ["errors"],
  standin: ["errors", "platform"],
  config: [...CONTRACTS, "platform"],
  loop: [...CONTRACTS, "ports"],
  recipes: [...CONTRACTS, "ports", "loop"],
  ...Object.fromEntries(ADAPTERS.map((name) => [name, [...CONTRACTS, "ports", "platform"]])),
  compose: BELOW_VIEWS,
  views: [...BELOW_VIEWS, "compose"],
  cluster: [...BELOW_VIEWS, "compose"],
  index: [...BELOW_VIEWS, "compose", "views"],
};

function imports(file: string): string[] {
  const found = text(file).matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)"/g);
  return [...found].map((match) => normalize(join(dirname(file), match[1] ?? "")));
}

/** Lines outside of everything that begin with something else than a declaration; in a long text there may be such, too. */
const MAY_ACT = /^(?!import|export|const|let|type|interface|function|async function|class|declare)[\w(["'`!+-]/m;
/** Kinds of statements that only make names. */
const SAYS_WHAT_THERE_IS = /^(Import|Export|TS)\w*Declaration$|^(Variable|Function|Class)Declaration$/;

describe("layout", () => {
  it("keeps every import going one way, and adapters apart from each other", () => {
    const broken = sources.flatMap((file) =>
      imports(file).flatMap((target) => {
        const [from, to] = [room(file), room(target)];
        return from === to || (MAY_IMPORT[from] ?? []).includes(to) ? [] : [`${file} imports ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("awaits in the kernel only where the loop is driven and effects are performed", () => {
    const awaiting = sources.filter((f) => room(f) === "loop" && /\bawait\b/.test(text(f)));
    expect(awaiting.filter((f) => !/^loop\/(drive|perform(-[\w-]+)?)\.ts$/.test(f))).toEqual([]);
    const recipes = sources.filter((f) => room(f) === "recipes" && /\bawait\b|Date\.now|Math\.random/.test(text(f)));
    expect(recipes).toEqual([]);
  });

  it("has no file over 400 lines and no recipe over 150", () => {
    expect(files.filter((f) => lines(f) > MAX_LINES).map((f) => `${f}: ${lines(f)}`)).toEqual([]);
    expect(sources.filter((f) => room(f) === "recipes" && lines(f) > MAX_RECIPE_LINES)).toEqual([]);
  });

  it("names no product in the kernel", () => {
    const named = sources.filter(
      (f) => room(f) === "loop" && /claude|anthropic|opencode|codex|sqlite|github/i.test(text(f)),
    );
    expect(named).toEqual([]);
  });

  it("starts every file with a comment that says what it is", () => {
    const bare = sources.filter((f) => !/^(#!.*\n)?\/\*\*/.test(text(f)));
    expect(bare).toEqual([]);
  });

  it("does nothing when it is imported, but for programs: the build decides what is loaded with what", () => {
    const acting = sources
      .filter((file) => MAY_ACT.test(text(file)))
      .filter((file) => parseAst(text(file), { lang: "ts" }).body.some(({ type }) => !SAYS_WHAT_THERE_IS.test(type)));
    expect(acting).toEqual(["checks/requirement/worker.ts", "views/cli/main.ts"]);
  });

  it("has one version", () => {
    expect(VERSION).toBe(packageJson.version);
  });

  it("says nothing about the machine it was made on", () => {
    const root = join(SRC, "..");
    const told = files.filter((f) => /\/root\/|\/home\/[a-z]+\//.test(text(f)));
    expect(told.map((f) => relative(root, f))).toEqual([]);
  });
});
