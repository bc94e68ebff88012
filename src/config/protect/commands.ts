/**
 * What the checks really run: their commands, the package scripts, make targets and scripts of the repository that
 * these name. Read once from the base, to know which tools judge and which files are the judge's own.
 */

/** The repository as it is before the first turn. */
export interface Project {
  /** Entries of the top level. */
  names: ReadonlySet<string>;
  /** package.json of each package in a folder of its own. */
  manifests: readonly string[];
  /** A small text file; undefined when there is none. */
  read(path: string): string | undefined;
}

export interface Judging {
  /** Every line that a check comes down to, as far as it can be followed. */
  text: string;
  /** Files of the repository that are run. */
  files: string[];
}

const MAX_DEPTH = 6;
const MANAGER =
  /(?:^|[\s;&|(])(?:npm|pnpm|yarn|bun)\s+(?:-[\w-]+(?:=\S+)?\s+)*(?:run-script\s+|run\s+)?(?:-[\w-]+\s+)*([\w:.@/-]+)/g;
const SHORT: Readonly<Record<string, string>> = { t: "test", tst: "test" };
/** A program in the repository, or a script given to an interpreter that runs nothing else. */
const RUN_FILE =
  /(?:^|[;&|(\n]|\b(?:env|exec|time|xargs)\s)\s*(?:\w+=\S*\s+)*(?:(?:(?:ba|da|z|k)?sh|source|\.)\s+(?:-\w+\s+)*)?((?:\.\/|[\w.-]+\/)[\w./@-]+|[\w.-]+\.(?:sh|bash|bats))(?=$|[\s;&|)])/g;
const INTERPRETED =
  /\b(?:node|deno run|bun|tsx|ts-node|python[\d.]*|ruby|perl|php)\s+(?:-[\w-]+(?:=\S+)?\s+)*((?:\.\/)?[\w./@-]+\.\w+)/g;
/** Interpreters, and scripts of the repository, may run the product itself, too: a file is the judge's only if it says so. */
const JUDGE_NAME =
  /(test|check|verif|spec|assert|validat|judge|lint|(^|[/_-])(ci|qa|e2e)([/_.-]|$)|(^|\/)(scripts|tools|ci)\/)/i;
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

export function whatJudges(commands: readonly string[], project: Project): Judging {
  const scripts = scriptsOf(project);
  const texts = new Map<string, string>();
  const files = new Set<string>();
  const follow = (key: string, text: string, depth: number): void => {
    if (texts.has(key) || depth > MAX_DEPTH) return;
    texts.set(key, text);
    const isCommand = key.startsWith("check ") || key.startsWith("script ");
    for (const name of scriptNames(text)) {
      for (const one of [`pre${name}`, name, `post${name}`]) {
        const script = scripts.get(one);
        if (script !== undefined) follow(`script ${one}`, script, depth + 1);
      }
    }
    if (/\bg?make\b/.test(text)) {
      const makefile = MAKEFILES.find((name) => project.names.has(name));
      if (makefile !== undefined) follow(makefile, project.read(makefile) ?? "", depth + 1);
    }
    for (const path of filesRun(text, { isCommand })) {
      const content = project.read(path);
      if (content === undefined) continue;
      files.add(path);
      follow(path, content, depth + 1);
    }
  };
  for (const [at, command] of commands.entries()) follow(`check ${at}`, command, 0);
  if (/\btox\b/.test([...texts.values()].join("\n"))) follow("tox.ini", project.read("tox.ini") ?? "", 1);
  return { text: [...texts.values()].join("\n"), files: [...files].toSorted() };
}

/** Of all packages under their name: which of them a check means cannot be told from its command. */
function scriptsOf(project: Project): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of [project.read("package.json") ?? "{}", ...project.manifests]) {
    for (const [name, script] of Object.entries(scriptsIn(text)))
      if (typeof script === "string") found.set(name, [found.get(name) ?? [], script].flat().join("\n"));
  }
  return found;
}

function scriptsIn(manifest: string): Record<string, unknown> {
  try {
    return (JSON.parse(manifest) as { scripts?: Record<string, unknown> }).scripts ?? {};
  } catch {
    // npm cannot read it either.
    return {};
  }
}

function scriptNames(text: string): string[] {
  return [...text.matchAll(MANAGER)].flatMap(([, name = ""]) => [SHORT[name] ?? name]);
}

function filesRun(text: string, { isCommand }: { isCommand: boolean }): string[] {
  const direct = [...text.matchAll(RUN_FILE)].map(([, path = ""]) => path);
  const interpreted = [...text.matchAll(INTERPRETED)].map(([, path = ""]) => path);
  const isJudge = (path: string): boolean => JUDGE_NAME.test(path);
  return [...(isCommand ? direct : direct.filter(isJudge)), ...interpreted.filter(isJudge)]
    .map((path) => path.replace(/^(\.\/)+/, ""))
    .filter((path) => isInside(path));
}

const isInside = (path: string): boolean =>
  path !== "" && !path.startsWith("/") && !path.split("/").some((part) => part === ".." || part === "node_modules");
