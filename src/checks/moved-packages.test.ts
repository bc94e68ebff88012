import { expect, it } from "vitest";
import { movedPackages } from "./moved-packages.ts";

const moved = (path: string, before: string, after: string): string[] => movedPackages(path, { before, after });
const lock = (packages: Record<string, unknown>, more = {}): string => JSON.stringify({ packages, ...more });
const registry = (name: string, version = "1.0.0"): string =>
  `https://packages.example.invalid/${name}/-/${name}-${version}.tgz`;

const NPM = lock({ "node_modules/chai": { version: "5.0.0", resolved: registry("chai", "5.0.0") } });
const PNPM = "importers:\n\n  .:\n    devDependencies:\n      chai:\n        specifier: ^5\n        version: 5.1.0\n";
const YARN = `chai@^5:\n  version "5.0.0"\n  resolved "${registry("chai")}#abc"\n`;
const BERRY = '"chai@npm:^5.0.0":\n  version: 5.0.0\n  resolution: "chai@npm:5.0.0"\n';
const UV = '[[package]]\nname = "pytest"\nversion = "8.0"\nsource = { registry = "https://pypi.org/simple" }\n';
const POETRY = '[[package]]\nname = "pytest"\nversion = "8.0"\nfiles = []\n';
const CARGO = '[dev-dependencies]\nchecks = "1"\n';

it.each<[string, string, string, string]>([
  ["a link", "package-lock.json", NPM, lock({ "node_modules/chai": { resolved: "evil", link: true } })],
  [
    "a link below another",
    "package-lock.json",
    NPM,
    lock({ "node_modules/a/node_modules/chai": { resolved: "evil", link: true } }),
  ],
  ["a folder", "npm-shrinkwrap.json", NPM, lock({ "node_modules/chai": { resolved: "file:evil" } })],
  [
    "a folder, as it was once written",
    "package-lock.json",
    NPM,
    JSON.stringify({ dependencies: { a: { dependencies: { chai: { version: "file:evil" } } } } }),
  ],
  [
    "another package's archive",
    "package-lock.json",
    NPM,
    lock({ "node_modules/chai": { resolved: registry("evil") } }),
  ],
  [
    "a repository",
    "pkg/package-lock.json",
    NPM,
    lock({ "node_modules/chai": { resolved: "git+ssh://git@a.b/c.git#1" } }),
  ],
  ["a link of pnpm", "pnpm-lock.yaml", PNPM, PNPM.replace("version: 5.1.0", "version: link:evil")],
  [
    "a folder of pnpm",
    "pnpm-lock.yaml",
    PNPM,
    `${PNPM}packages:\n\n  chai@file:evil:\n    resolution: {directory: evil, type: directory}\n`,
  ],
  [
    "a link of an older pnpm",
    "pnpm-lock.yaml",
    "devDependencies:\n  chai: 5.0.0\n",
    "devDependencies:\n  chai: link:evil\n",
  ],
  ["a folder of yarn", "yarn.lock", YARN, 'chai@^5, "chai@file:./evil":\n  version "5.0.0"\n'],
  ["an archive of yarn", "yarn.lock", YARN, YARN.replace(registry("chai"), registry("evil"))],
  [
    "a portal of yarn",
    "yarn.lock",
    BERRY,
    '"chai@portal:./evil::locator=x%40workspace%3A.":\n  resolution: "chai@portal:./evil"\n',
  ],
  [
    "a folder of bun",
    "bun.lock",
    '{"packages":{"chai":["chai@5.0.0",""]}}',
    '{"packages":{"chai":["chai@file:evil",{}]}}',
  ],
  ["a folder of uv", "uv.lock", UV, UV.replace('registry = "https://pypi.org/simple"', 'editable = "evil"')],
  ["a folder of poetry", "poetry.lock", POETRY, `${POETRY}\n[package.source]\ntype = "directory"\nurl = "evil"\n`],
  ["a folder of pdm", "pdm.lock", POETRY, POETRY.replace("files = []", 'path = "./evil"')],
  [
    "a folder of pipenv",
    "Pipfile.lock",
    '{"develop":{"pytest":{"version":"==8"}}}',
    '{"develop":{"pytest":{"path":"./evil"}}}',
  ],
  [
    "a folder of composer",
    "composer.lock",
    '{"packages-dev":[{"name":"a/b","dist":{"type":"zip","url":"https://x/a/b"}}]}',
    '{"packages-dev":[{"name":"a/b","dist":{"type":"path","url":"evil"}}]}',
  ],
  [
    "a folder of bundler",
    "Gemfile.lock",
    "GEM\n  specs:\n    rspec (3.0)\n",
    "PATH\n  remote: evil\n  specs:\n    rspec (3.0)\n",
  ],
  [
    "a crate without a source",
    "Cargo.lock",
    '[[package]]\nname = "serde"\nsource = "registry+x"\n',
    '[[package]]\nname = "serde"\nversion = "1"\n',
  ],
  ["a path in Cargo.toml", "Cargo.toml", CARGO, '[dev-dependencies]\nchecks = { path = "mine" }\n'],
  ["a patch in Cargo.toml", "Cargo.toml", CARGO, `${CARGO}[patch.crates-io]\n`],
  ["a replacement in go.mod", "go.mod", "module a\n", "module a\n\nreplace b.org/c => ./c\n"],
  [
    "a path in pyproject.toml",
    "pyproject.toml",
    'dependencies = ["pytest>=8"]\n',
    'dependencies = ["pytest>=8"]\n[tool.uv.sources]\npytest = { path = "evil" }\n',
  ],
  ["a path in a Gemfile", "Gemfile", 'gem "rspec"\n', 'gem "rspec", path: "evil"\n'],
  ["a file in requirements.txt", "requirements-dev.txt", "pytest==8\n", "pytest @ file:///w/evil\n"],
  ["a file that nobody can read", "package-lock.json", NPM, "{"],
])("a dependency that comes from another place than before is named: %s", (_, path, before, after) => {
  expect(moved(path, before, after)).toHaveLength(1);
});

const LINKED = { "node_modules/own": { resolved: "packages/own", link: true }, "packages/own": { version: "1.0.0" } };

it.each<[string, string, string, string]>([
  ["a newer version", "package-lock.json", NPM, NPM.replaceAll("5.0.0", "5.2.0")],
  ["another registry", "package-lock.json", NPM, NPM.replace("registry.npmjs.org", "npm.example.org/api")],
  [
    "a new package of the repository",
    "package-lock.json",
    NPM,
    lock({ ...(JSON.parse(NPM) as { packages: object }).packages, ...LINKED }),
  ],
  [
    "a link that was there",
    "package-lock.json",
    lock(LINKED),
    lock({ ...LINKED, "node_modules/a": { resolved: registry("a") } }),
  ],
  [
    "a package of the repository that is moved in it",
    "package-lock.json",
    lock(LINKED),
    lock({ "node_modules/own": { resolved: "libs/own", link: true } }),
  ],
  ["a new lockfile", "package-lock.json", "", lock(LINKED)],
  [
    "a new link of pnpm",
    "pnpm-lock.yaml",
    PNPM,
    `${PNPM}      own:\n        specifier: workspace:*\n        version: link:packages/own\n`,
  ],
  ["a newer version of yarn", "yarn.lock", YARN, YARN.replaceAll("5.0.0", "5.2.0").replace("1.0.0.tgz", "5.2.0.tgz")],
  [
    "a workspace of yarn",
    "yarn.lock",
    BERRY,
    `${BERRY}"own@workspace:packages/own":\n  resolution: "own@workspace:packages/own"\n`,
  ],
  ["a newer version of uv", "uv.lock", UV, UV.replace("8.0", "8.3")],
  ["a new crate by its path", "Cargo.toml", CARGO, `${CARGO}own = { path = "own" }\nother = "2"\n`],
  ["a new module", "go.mod", "module a\n", "module a\n\nrequire b.org/c v1.0.0\n"],
  ["a new requirement", "requirements.txt", "pytest==8\n", "pytest==8.1\nrich\n"],
  ["what is no lockfile", "data/lock.json", "{}", lock({ "node_modules/chai": { link: true, resolved: "evil" } })],
])("an honest change is not: %s", (_, path, before, after) => expect(moved(path, before, after)).toEqual([]));
