/**
 * What a fenced process sees of the machine, as a list: system folders and toolchains to read, the workspace and a
 * private home to write. Everything that is not on the list does not exist inside.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Place {
  /** On the host; absolute. */
  path: string;
  access: "read" | "write";
  /** Where it appears inside; its own path when left out. */
  at?: string;
  /** With a fence that has layers: shown over these, and what is written goes to the folder instead. */
  layer?: { over: readonly string[]; folder: string };
}

/** Read-only where they exist; a symbolic link stays one. Of the hardware, the number of processors. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"].concat(
  "/sys/devices/system/cpu",
);
/** A PATH folder with more entries is not searched for links that lead out of it. */
const MAX_LISTED_PROGRAMS = 500;
/** Below toolchains, but nobody's business. */
const SECRET_NAMES = (
  "credentials credentials.toml .npmrc .netrc .pypirc .git-credentials " +
  ".env settings.xml gradle.properties auth.json hosts.yml"
).split(" ");
/** Beside the programs of what an installer made. */
const INSTALLED = [
  "lib",
  "lib64",
  "libexec",
  "share",
  "include",
  "registry",
  "versions",
  "toolchains",
  "pkg",
  "plugins",
];
/** Folders of a home that hold settings, whatever programs are in them. */
const USERS_OWN = [".local", ".config", ".cache", ".ssh", ".gnupg", ".aws", ".kube", ".docker", "Documents"];

export interface SystemPlaces {
  links: { target: string; at: string }[];
  places: Place[];
}

export function systemPlaces(): SystemPlaces {
  const links: SystemPlaces["links"] = [];
  const places: Place[] = [];
  for (const path of SYSTEM) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) links.push({ target: readlinkSync(path), at: path });
    else if (found !== undefined) places.push({ path, access: "read" });
  }
  return { links, places };
}

interface Toolchains {
  /** The PATH that programs are looked for in. */
  path: string;
  /** Folders that variables such as JAVA_HOME name. */
  named: readonly string[];
  /** Never opened as a whole: the user's home, pawl's state. */
  closed: readonly string[];
}

/** Folders outside the system's own that hold programs of the PATH, with what they need beside them. */
export function toolchainPlaces({ path, named, closed }: Toolchains): Place[] {
  const folders = path.split(":").filter((folder) => folder.startsWith("/") && existsSync(folder));
  const wanted = [
    ...folders.map((folder) => rootOf(folder, closed)),
    ...folders.flatMap((folder) => linkTargets(folder, closed)),
    ...named,
  ];
  const real = wanted.flatMap((folder) => [folder, realPathOf(folder)]);
  const open = [...new Set(real)].filter(
    (folder) => existsSync(folder) && !isSystem(folder) && !closed.some((no) => isWithin(no, folder)),
  );
  return withoutNested(open).map((folder) => ({ path: folder, access: "read" }));
}

/** Files inside opened toolchains that hold secrets; hidden where they exist. */
export function hiddenFiles(places: readonly Place[]): string[] {
  return places
    .filter(({ access, path }) => access === "read" && !isSystem(path) && statSync(path).isDirectory())
    .flatMap(({ path }) => SECRET_NAMES.map((name) => join(path, name)))
    .filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch {
    // A place may itself be a file; then there is nothing below it.
    return false;
  }
}

/** `…/node/22/bin` needs `…/node/22/lib`; `~/bin` and `~/.local/bin` must not open what is beside them. */
function rootOf(folder: string, closed: readonly string[]): string {
  const parent = dirname(folder);
  const isPrograms = ["bin", ".bin", "sbin", "shims"].includes(basename(folder));
  const isOpen = isPrograms && parent !== "/" && !closed.some((no) => isWithin(no, parent));
  // Directly in the user's home a folder with programs may be anything: settings, notes, other projects.
  const isDoubtful = closed.includes(dirname(parent)) && !looksInstalled(parent);
  return isOpen && !isDoubtful ? parent : folder;
}

const looksInstalled = (folder: string): boolean =>
  !USERS_OWN.includes(basename(folder)) && INSTALLED.some((name) => existsSync(join(folder, name)));

/** Programs that are links to somewhere else, with what they need beside them. */
function linkTargets(folder: string, closed: readonly string[]): string[] {
  if (isSystem(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.length > MAX_LISTED_PROGRAMS) return [];
  return entries
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => realPathOf(join(folder, entry.name)))
    .filter((target) => !isWithin(target, folder) && existsSync(target))
    .map((target) => {
      const root = rootOf(dirname(target), closed);
      return root === dirname(target) ? target : root;
    });
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const isSystem = (path: string): boolean => SYSTEM.some((folder) => isWithin(path, folder));

/** `path` is `folder` or below it. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

function withoutNested(folders: readonly string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => other !== folder && isWithin(folder, other)));
}
