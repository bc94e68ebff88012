/** Python projects: the tools that the project names, run by whoever keeps its environment. */
import type { Files, Found, Purpose, Setup } from "./detect.ts";

const SIGNS = [
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "requirements.txt",
  "requirements-dev.txt",
  "requirements_dev.txt",
  "dev-requirements.txt",
  "Pipfile",
  "tox.ini",
  "noxfile.py",
  "pytest.ini",
  "manage.py",
];
/** By lockfile: how commands are run, and how the environment is made in the tree. */
const KEEPERS: readonly { lock: string; run: string; setup: string }[] = [
  { lock: "uv.lock", run: "uv run ", setup: "uv sync --frozen" },
  { lock: "poetry.lock", run: "poetry run ", setup: "POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install --no-interaction" },
  { lock: "pdm.lock", run: "pdm run ", setup: "pdm sync" },
  { lock: "Pipfile.lock", run: "pipenv run ", setup: "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev" },
];
const VENVS = [".venv", "venv"];
const REQUIREMENTS = ["requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "requirements.txt"];

export function fromPython(files: Files): Found[] {
  const { names, read } = files;
  const present = SIGNS.filter((name) => names.has(name));
  const [from] = present;
  if (from === undefined) return [];
  const said = present.map((name) => read(name) ?? "").join("\n");
  const mentions = (word: string): boolean => new RegExp(String.raw`\b${word}\b`).test(said);
  const has = (...some: string[]): boolean => some.some((name) => names.has(name));
  const tools = toolsOf(files);
  const found = (purpose: Purpose, one: Pick<Found, "command" | "needs">): Found => ({ purpose, from, ...one });

  const tests = ((): Pick<Found, "command" | "needs"> | undefined => {
    if (mentions("pytest") || has("pytest.ini", "conftest.py")) return tools.module("pytest");
    if (has("manage.py")) return { command: `${tools.python} manage.py test` };
    if (/^\[(testenv|tox)\b/m.test(said) || mentions("tool.tox")) return tools.program("tox");
    if (has("noxfile.py")) return tools.program("nox");
    return unconfigured(files, tools);
  })();
  const types = ((): Pick<Found, "command" | "needs"> | undefined => {
    if (mentions("mypy") || has("mypy.ini", ".mypy.ini")) return tools.module("mypy", " .");
    return mentions("pyright") || has("pyrightconfig.json") ? tools.program("pyright") : undefined;
  })();
  const lint = ((): Pick<Found, "command" | "needs"> | undefined => {
    if (mentions("ruff") || has("ruff.toml", ".ruff.toml")) return tools.program("ruff", " check .");
    return mentions("flake8") || has(".flake8") ? tools.module("flake8") : undefined;
  })();
  return [
    ...(tests === undefined ? [] : [found("tests", tests)]),
    ...(types === undefined ? [] : [found("types", types)]),
    ...(lint === undefined ? [] : [found("lint", lint)]),
  ];
}

const TEST_FOLDERS = ["tests", "test"];
/** Folders below those of the tests that are looked at. */
const MAX_DEPTH = 3;

/** Nothing says which runner it is: the tests themselves do. Pytest's are found by nothing else. */
function unconfigured(files: Files, tools: Tools): Pick<Found, "command" | "needs"> | undefined {
  const folders = TEST_FOLDERS.flatMap((folder) => {
    const inside = files.within(folder);
    return inside === undefined ? [] : [{ folder, inside }];
  });
  const [own, ...below] = [testTexts(files, 0), ...folders.map(({ inside }) => testTexts(inside, MAX_DEPTH))];
  const texts = [...(own ?? []), ...below.flat()];
  const imports = (module: string): boolean =>
    texts.some((text) => new RegExp(String.raw`^\s*(?:import|from)\s+${module}\b`, "m").test(text));
  if (texts.length === 0) return undefined;
  if (imports("pytest") || !imports("unittest")) {
    const found = tools.module("pytest");
    return { needs: ["pytest"], ...found };
  }
  // From the top only packages are looked into.
  const plain = folders.find(({ inside }, at) => !inside.names.has("__init__.py") && (below[at] ?? []).length > 0);
  const start = plain === undefined || (own ?? []).length > 0 ? "" : ` -s ${plain.folder}`;
  return { command: `${tools.python} -m unittest discover${start}` };
}

function testTexts({ names, read, within }: Files, depth: number): string[] {
  const own = [...names].filter((name) => /^test.*\.py$|_test\.py$/.test(name)).flatMap((name) => read(name) ?? []);
  if (depth === 0) return own;
  const folders = [...names].filter((name) => !/^[._]|\./.test(name));
  return [
    ...own,
    ...folders.flatMap((name) => {
      const inside = within(name);
      return inside === undefined ? [] : testTexts(inside, depth - 1);
    }),
  ];
}

interface Tools {
  /** How `python` is called. */
  python: string;
  /** A tool that is a module, or a program of the environment. */
  module(name: string, words?: string): Pick<Found, "command" | "needs">;
  program(name: string, words?: string): Pick<Found, "command" | "needs">;
}

function toolsOf({ names }: Files): Tools {
  const keeper = KEEPERS.find(({ lock }) => names.has(lock));
  if (keeper !== undefined) {
    const run = (name: string, words = ""): Pick<Found, "command"> => ({ command: `${keeper.run}${name}${words}` });
    return { python: `${keeper.run}python`, module: run, program: run };
  }
  const venv = VENVS.find((name) => names.has(name));
  const python = venv === undefined ? "python3" : `${venv}/bin/python`;
  return {
    python,
    module: (name, words = "") => ({ command: `${python} -m ${name}${words}`, needs: [`${python}:${name}`] }),
    program: (name, words = "") => ({ command: `${venv === undefined ? "" : `${venv}/bin/`}${name}${words}` }),
  };
}

/** With plain pip only where there is an environment in the tree already: else the machine's own is used. */
export function pythonSetup({ names }: Files): Setup | undefined {
  const keeper = KEEPERS.find(({ lock }) => names.has(lock));
  if (keeper !== undefined) return { command: keeper.setup, from: keeper.lock, makes: ".venv" };
  const venv = VENVS.find((name) => names.has(name));
  const from = REQUIREMENTS.find((name) => names.has(name));
  if (venv === undefined || from === undefined) return undefined;
  return { command: `python3 -m venv ${venv} && ${venv}/bin/pip install -r ${from}`, from, makes: venv };
}
