/**
 * Packages that a change takes from another place than before: a folder of the change, a repository, another package's
 * archive. Tests use them, so they could say what they like. Told by lockfiles, and by manifests where these say it
 * themselves; a package that is new, a newer version and another registry are no such thing. Pure.
 */

interface Versions {
  before: string;
  after: string;
}
/** Where each package comes from, by its name. */
type Places = Map<string, Set<string>>;

const REGISTRY = "a registry";
const MAX_SHOWN_CHARS = 80;
const NAME = String.raw`(?:@[\w.-]+\/)?[\w.-]+`;

const LOCKFILES: readonly { files: RegExp; read: (text: string) => Places }[] = [
  { files: /^(?:package-lock|npm-shrinkwrap)\.json$/, read: npm },
  { files: /^pnpm-lock\.yaml$/, read: pnpm },
  { files: /^yarn\.lock$/, read: yarn },
  { files: /^bun\.lock$/, read: bun },
  { files: /^(?:uv|poetry|pdm)\.lock$/, read: (text) => blocks(text, REGISTRY) },
  { files: /^Cargo\.lock$/, read: (text) => blocks(text, "a folder") },
  { files: /^Pipfile\.lock$/, read: pipenv },
  { files: /^composer\.lock$/, read: composer },
  { files: /^Gemfile\.lock$/, read: bundler },
];
const MANIFEST = /^(?:Cargo\.toml|go\.mod|pyproject\.toml|Pipfile|Gemfile|requirements[^/]*\.txt)$/;

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
export const isLockfile = (path: string): boolean => LOCKFILES.some(({ files }) => files.test(nameOf(path)));
export const saysPackages = (path: string): boolean => isLockfile(path) || MANIFEST.test(nameOf(path));

/** In words, one for each package that was there before. */
export function movedPackages(path: string, versions: Versions): string[] {
  const lockfile = LOCKFILES.find(({ files }) => files.test(nameOf(path)));
  if (lockfile === undefined) return MANIFEST.test(nameOf(path)) ? movedLines(versions) : [];
  const [before, after] = [versions.before, versions.after].map((text) => attempt(() => lockfile.read(text)));
  if (before === undefined || before.size === 0) return [];
  if (after === undefined) return ["nobody can read it"];
  return [...after].flatMap(([name, places]) => {
    const known = before.get(name);
    // A folder was the change's before, wherever it is now.
    const isNews = (place: string): boolean =>
      known?.has(place) === false && !(isFolder(place) && [...known].some(isFolder));
    const [other] = [...places].filter(isNews);
    return other === undefined ? [] : [`${name} from ${other}`.slice(0, MAX_SHOWN_CHARS)];
  });
}

const isFolder = (place: string): boolean =>
  /^(?:a folder|the (?:folder|editable|directory|path|virtual)\b|(?:file|link|portal|workspace):|\.{0,2}\/)/.test(
    place,
  ) && !/\.(?:tgz|gz|whl|zip)$/.test(place);

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

type Json = Record<string, unknown>;
const fields = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function collected(entries: Iterable<readonly [name: string, place: string]>): Places {
  const places: Places = new Map();
  for (const [name, place] of entries) places.set(name, (places.get(name) ?? new Set()).add(place));
  return places;
}

/** Versions, ranges and tags are a registry's; what has a scheme, or is a path, is a place of its own. */
function placeOf(said: string): string {
  const plain = said.replace(/[#?].*$|::.*$/s, "");
  const [, alias] = new RegExp(`^npm:(${NAME})@`).exec(plain) ?? [];
  if (alias !== undefined) return alias;
  return /^(?!npm:)[a-z+]+:|^\.{0,2}\//i.test(plain) ? plain : REGISTRY;
}

/** An archive of a registry tells whose it is. */
function archiveOf(url: string, name: string): string {
  const [, of] = new RegExp(`/(${NAME})/-/`).exec(url.replaceAll(/%2f/gi, "/")) ?? [];
  if (of === undefined) return placeOf(url);
  return of === name ? REGISTRY : of;
}

function npm(text: string): Places {
  const { packages, dependencies } = fields(text.trim() === "" ? {} : JSON.parse(text));
  const inPackages = Object.entries(fields(packages)).flatMap(([key, value]) => {
    const [, name] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(key) ?? [];
    return name === undefined ? [] : [[name, npmPlace(name, fields(value))] as const];
  });
  return collected([...inPackages, ...npmTree(dependencies)]);
}

/** As older ones have it. */
function npmTree(dependencies: unknown): (readonly [string, string])[] {
  return Object.entries(fields(dependencies)).flatMap(([name, value]) => [
    [name, npmPlace(name, fields(value))] as const,
    ...npmTree(fields(value)["dependencies"]),
  ]);
}

function npmPlace(name: string, { link, resolved, version }: Json): string {
  if (link === true) return `the folder ${textOf(resolved)}`;
  const place = placeOf(textOf(version));
  if (place !== REGISTRY) return place;
  return textOf(resolved) === "" ? REGISTRY : archiveOf(textOf(resolved), name);
}

function pnpm(text: string): Places {
  const named = new RegExp(String.raw`^ +'?(${NAME})'?:(?:\s*\n +specifier:[^\n]*\n +version:)? +'?([^\s'(]+)`, "gm");
  const keys = new RegExp(String.raw`^ +'?\/?(${NAME})@'?([^\s'(]+?)'?(?:\([^\n]*\))?'?:(?: |$)`, "gm");
  return collected(
    [...text.matchAll(named), ...text.matchAll(keys)].flatMap(([, name = "", said = ""]) =>
      /^(?:version|specifier|resolution|directory|type|tarball)$/.test(name) ? [] : [[name, placeOf(said)] as const],
    ),
  );
}

function yarn(text: string): Places {
  const entries: (readonly [string, string])[] = [];
  let last = "";
  for (const line of text.split("\n")) {
    const isHead = /^\S.*:$/.test(line) && !line.startsWith("#");
    const [, resolved] = /^\s+resolved "?([^"\s]+)/.exec(line) ?? [];
    if (isHead || /^\s+resolution:/.test(line))
      for (const [, name = "", said = ""] of line.matchAll(new RegExp(`(${NAME})@([^",]+?)(?=[",]|:$)`, "g"))) {
        last = name;
        entries.push([name, placeOf(said)]);
      }
    else if (resolved !== undefined && last !== "") entries.push([last, archiveOf(resolved, last)]);
  }
  return collected(entries);
}

function bun(text: string): Places {
  const specs = text.matchAll(new RegExp(`"(${NAME})@([^"]+)"`, "g"));
  return collected([...specs].map(([, name = "", said = ""]) => [name, placeOf(said)]));
}

/** `[[package]]` for each: of uv, poetry, pdm and Cargo. `unsaid`: where one comes from that does not say it. */
function blocks(text: string, unsaid: string): Places {
  return collected(
    text
      .split(/^\[\[package\]\]/m)
      .slice(1)
      .map((block) => {
        const [, name = ""] = /^name = "([^"]*)"/m.exec(block) ?? [];
        const [, source] = /^source = "([^"]*)"/m.exec(block) ?? [];
        const [, kind, at = ""] =
          /^source = \{ *(\w+) = "([^"]*)"/m.exec(block) ??
          /^\[package\.source\]\s*\ntype = "(\w+)"\s*\nurl = "([^"]*)"/m.exec(block) ??
          /^(path|git|url) = "([^"]*)"/m.exec(block) ??
          [];
        if (source !== undefined) return [name, source.startsWith("registry+") ? REGISTRY : placeOf(source)];
        if (kind === undefined) return [name, unsaid];
        return [name, /^(?:registry|legacy)$/.test(kind) ? REGISTRY : `the ${kind} ${at.replace(/[#?].*$/, "")}`];
      }),
  );
}

function pipenv(text: string): Places {
  const all = fields(text.trim() === "" ? {} : JSON.parse(text));
  const entries = Object.entries(all).flatMap(([key, group]) => (key === "_meta" ? [] : Object.entries(fields(group))));
  return collected(
    entries.map(([name, value]) => {
      const { path, file, git } = fields(value);
      return [name, [path, file, git].map(textOf).find((one) => one !== "") ?? REGISTRY];
    }),
  );
}

function composer(text: string): Places {
  const all = fields(text.trim() === "" ? {} : JSON.parse(text));
  const entries = ["packages", "packages-dev"].flatMap((key) =>
    Array.isArray(all[key]) ? (all[key] as unknown[]) : [],
  );
  return collected(
    entries.map((entry) => {
      const { name, dist } = fields(entry);
      const { type, url } = fields(dist);
      return [textOf(name), type === "path" ? `the folder ${textOf(url)}` : REGISTRY];
    }),
  );
}

function bundler(text: string): Places {
  return collected(
    text.split(/^(?=[A-Z]+$)/m).flatMap((section) => {
      const [, remote = ""] = /^ {2}remote: (.*)$/m.exec(section) ?? [];
      const place = /^(?:PATH|GIT)$/m.test(section) ? remote : REGISTRY;
      return [...section.matchAll(/^ {4}([\w.-]+) \(/gm)].map(([, name = ""]) => [name, place] as const);
    }),
  );
}

/** Lines of a manifest that are new. */
function movedLines({ before, after }: Versions): string[] {
  const known = new Set(before.split("\n").map((line) => line.trim()));
  return after.split("\n").flatMap((given) => {
    const line = given.trim();
    if (known.has(line)) return [];
    const [, name] =
      /^"?([\w.-]+)"?\s*=\s*\{.*\b(?:path|git|url)\s*=/.exec(line) ??
      /^gem\s+["']([\w.-]+)["'].*\b(?:path|git|github)\b\s*(?::|=>)/.exec(line) ??
      /^([\w.-]+)(?:\[[^\]]*\])?\s*@\s*(?:file:|git|\.|\/)/.exec(line) ??
      [];
    const isMoved = name !== undefined && isNamed(name, before);
    return isMoved || /^(?:\[patch\b|\[replace\b|replace\b|[^/]\S*(?: v\S+)? => )/.test(line)
      ? [line.slice(0, MAX_SHOWN_CHARS)]
      : [];
  });
}

/** As a key, a table, a requirement in quotes or one at the start of a line. */
const isNamed = (name: string, text: string): boolean =>
  new RegExp(String.raw`^\s*(?:\[.*\.)?"?${name}"?\s*[=\]]|["']${name}\b|^${name}\b`, "m").test(text);
