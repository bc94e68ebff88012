/**
 * The user's git settings, read once before the first turn and frozen into a git directory of pawl's own (the "view").
 * Without them an encrypted file would be stored in plain text and line endings would change; read later, an agent
 * could have written them.
 */
import { cpSync, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { homedir } from "node:os";
import { UsageError } from "../errors.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import type { RepositoryFacts } from "./inspect.ts";
import type { LaneLayout } from "./layout.ts";
import type { Person } from "./objects.ts";
import { isWithin, trustedPath, userGit, type Environment } from "./user-git.ts";

/** What decides how a file becomes a blob and back. Stat settings stay at git's strictest, so that nothing hides. */
const FROZEN_KEYS = new Set([
  "core.autocrlf",
  "core.eol",
  "core.filemode",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.symlinks",
  "core.protecthfs",
  "core.protectntfs",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "core.bigfilethreshold",
  "core.checkroundtripencoding",
]);
const FROZEN_SECTIONS = ["filter.", "lfs."];
const PROGRAM_KEY = /^filter\..*\.(clean|smudge|process)$/s;
const SYSTEM_ATTRIBUTES = "/etc/gitattributes";

export interface Frozen {
  author: Person;
  /** PATH without what the agent can write. */
  path: string;
  /** The user's `core.sharedRepository` is set: only git itself gets the permissions of new files right. */
  shared: boolean;
}

type Setting = readonly [key: string, value: string];

export async function freezeSettings(
  lane: LaneLayout,
  { facts, workspace, environment }: { facts: RepositoryFacts; workspace: string; environment: Environment },
): Promise<Frozen> {
  const settings = await effectiveSettings(workspace, environment);
  const path = trustedPath(environment, workspace);
  const frozen = frozenOf(settings, { workspace, environment });
  writeView(lane, { facts, frozen, files: settingFiles({ settings, facts, environment }) });
  const last = (key: string) => settings.findLast(([name]) => name === key)?.[1];
  return {
    author: { name: last("user.name") ?? "pawl", email: last("user.email") ?? "pawl@localhost" },
    path,
    shared: !["", "false", "umask", "0"].includes(last("core.sharedrepository") ?? ""),
  };
}

/** UsageError when a filter of the effective settings lies where an agent can change it. */
export async function checkFilters(workspace: string, environment: Environment): Promise<void> {
  frozenOf(await effectiveSettings(workspace, environment), { workspace, environment });
}

/** A view in which nothing can be run at all: only the user's ignore files. */
export function writeNeutralView(
  lane: LaneLayout,
  { facts, environment }: { facts: RepositoryFacts; environment: Environment },
): void {
  writeView(lane, { facts, frozen: [], files: settingFiles({ settings: [], facts, environment }) });
}

function frozenOf(
  settings: readonly Setting[],
  { workspace, environment }: { workspace: string; environment: Environment },
): Setting[] {
  const home = environment["HOME"] ?? homedir();
  const path = trustedPath(environment, workspace);
  const frozen = settings
    .filter(([key]) => FROZEN_KEYS.has(key) || FROZEN_SECTIONS.some((section) => key.startsWith(section)))
    .map(([key, value]): Setting => [key, PROGRAM_KEY.test(key) ? withHome(value, home) : value]);
  for (const [key, value] of frozen) if (PROGRAM_KEY.test(key)) refuseWorkspaceProgram({ key, value, workspace, path });
  return frozen;
}

async function effectiveSettings(workspace: string, environment: Environment): Promise<Setting[]> {
  const result = await userGit(["config", "--list", "-z", "--includes"], { cwd: workspace, environment });
  if (result.code !== 0)
    throw new UsageError(`git settings cannot be read: ${result.stderr.trim()}`, {
      hint: "`git config --list` must work in this repository.",
    });
  const records = result.stdout.toString("utf8").split("\0").filter(Boolean);
  return records.map((record): Setting => {
    const end = record.indexOf("\n");
    return end < 0 ? [record, "true"] : [record.slice(0, end), record.slice(end + 1)];
  });
}

/** A filter runs whenever pawl reads or writes files, so its program must lie where no agent can change it. */
function refuseWorkspaceProgram(about: { key: string; value: string; workspace: string; path: string }): void {
  const hint = "Move the filter program out of the repository, or remove the filter from git's settings.";
  if (/[$`]/.test(about.value))
    throw new UsageError(`${about.key} uses the shell ("${about.value}"), so where its program lies is unknown`, {
      hint,
    });
  const root = realpathSync(about.workspace);
  const words = about.value.split(/[\s;|&()<>"']+/).filter(Boolean);
  for (const [at, word] of words.entries()) {
    const inPath = about.path.split(delimiter).map((dir) => join(dir, word));
    // A program is found by PATH or by its path; an argument may be a script that it reads.
    const places = at === 0 && !word.includes("/") ? inPath : [resolve(root, word)];
    if (!places.some((place) => isFile(place) && isWithin(realpathSync(place), root))) continue;
    throw new UsageError(`${about.key} runs "${word}" from inside the repository, where an agent can change it`, {
      hint,
    });
  }
}

function withHome(command: string, home: string): string {
  return command.replaceAll(/\$HOME\b|\$\{HOME\}/g, home).replaceAll(/(^|\s)~\//g, `$1${home}/`);
}

interface SettingFiles {
  exclude: string;
  attributes: string;
  infoAttributes: string;
  sparse: string;
}

/** Later lines win in ignore files, so those of several places can be one file. */
function settingFiles(about: {
  settings: readonly Setting[];
  facts: RepositoryFacts;
  environment: Environment;
}): SettingFiles {
  const { facts } = about;
  const home = about.environment["HOME"] ?? homedir();
  const xdg = about.environment["XDG_CONFIG_HOME"] || join(home, ".config");
  const named = (key: string, fallback: string) => {
    const value = about.settings.findLast(([name]) => name === key)?.[1];
    if (value === undefined) return join(xdg, "git", fallback);
    const expanded = value.startsWith("~/") ? join(home, value.slice(2)) : value;
    return isAbsolute(expanded) ? expanded : resolve(facts.topLevel, expanded);
  };
  const joined = (...paths: string[]) => paths.map(textOf).join("\n");
  return {
    exclude: joined(named("core.excludesfile", "ignore"), join(facts.commonDir, "info/exclude")),
    attributes: joined(SYSTEM_ATTRIBUTES, named("core.attributesfile", "attributes")),
    infoAttributes: textOf(join(facts.commonDir, "info/attributes")),
    sparse: textOf(join(facts.gitDir, "info/sparse-checkout")),
  };
}

function textOf(path: string): string {
  return isFile(path) ? readFileSync(path, "latin1") : "";
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function writeView(
  lane: LaneLayout,
  { facts, frozen, files }: { facts: RepositoryFacts; frozen: readonly Setting[]; files: SettingFiles },
): void {
  for (const dir of ["info", "refs", "objects"]) makePrivateDir(join(lane.view, dir));
  makePrivateDir(lane.home);
  const format: Setting[] =
    facts.objectFormat === "sha1"
      ? [["core.repositoryformatversion", "0"]]
      : [
          ["core.repositoryformatversion", "1"],
          ["extensions.objectformat", "sha256"],
        ];
  const own: Setting[] = [
    ...format,
    ["core.bare", "false"],
    ["core.safecrlf", "false"],
    ["core.excludesfile", join(lane.view, "excludes")],
    ["core.attributesfile", join(lane.view, "attributes")],
    ["lfs.storage", join(facts.commonDir, "lfs")],
  ];
  writeDurably(lane.globalConfig, "");
  writeDurably(join(lane.view, "HEAD"), "ref: refs/heads/none\n");
  writeDurably(join(lane.view, "excludes"), Buffer.from(files.exclude, "latin1"));
  writeDurably(join(lane.view, "attributes"), Buffer.from(files.attributes, "latin1"));
  writeDurably(join(lane.view, "info/attributes"), Buffer.from(files.infoAttributes, "latin1"));
  writeDurably(join(lane.view, "info/sparse-checkout"), Buffer.from(files.sparse, "latin1"));
  copyFilterKeys(facts.commonDir, lane.view);
  writeDurably(join(lane.view, "config"), [...frozen, ...own].map(settingText).join(""));
}

/** git-crypt looks for its keys in the git directory. */
function copyFilterKeys(from: string, view: string): void {
  const keys = join(from, "git-crypt");
  if (existsSync(keys)) cpSync(keys, join(view, "git-crypt"), { recursive: true, dereference: false });
}

function settingText([key, value]: Setting): string {
  const [section, name] = [key.slice(0, key.indexOf(".")), key.slice(key.lastIndexOf(".") + 1)];
  const sub = key.slice(section.length + 1, -(name.length + 1));
  const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  const heading = sub === "" ? `[${section}]` : `[${section} "${escaped(sub)}"]`;
  const quoted = escaped(value).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `${heading}\n\t${name} = "${quoted}"\n`;
}
