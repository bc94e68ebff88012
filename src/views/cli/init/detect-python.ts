/** Python projects: pytest, ruff and mypy where the project names them, run by the tool that keeps its environment. */
import type { Files, Found } from "./detect.ts";

const SIGNS = [
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "requirements.txt",
  "requirements-dev.txt",
  "tox.ini",
  "pytest.ini",
];

export function fromPython({ names, read }: Files): Found[] {
  const present = SIGNS.filter((name) => names.has(name));
  const [from] = present;
  if (from === undefined) return [];
  const said = present.map((name) => read(name) ?? "").join("\n");
  const run = names.has("uv.lock") ? "uv run " : names.has("poetry.lock") ? "poetry run " : "";
  const module = (name: string): string => (run === "" ? `python3 -m ${name}` : `${run}${name}`);
  const usesPytest = /pytest/.test(said) || names.has("pytest.ini") || names.has("conftest.py");
  const usesRuff = /\bruff\b/.test(said) || names.has("ruff.toml") || names.has(".ruff.toml");
  const usesMypy = /\bmypy\b/.test(said) || names.has("mypy.ini");
  return [
    ...(usesPytest ? [{ purpose: "tests" as const, command: module("pytest"), from }] : []),
    ...(!usesPytest && (names.has("tests") || names.has("test"))
      ? [
          {
            purpose: "tests" as const,
            command: `${run === "" ? "python3" : `${run}python`} -m unittest discover`,
            from,
          },
        ]
      : []),
    ...(usesMypy ? [{ purpose: "types" as const, command: `${module("mypy")} .`, from }] : []),
    ...(usesRuff ? [{ purpose: "lint" as const, command: `${run}ruff check .`, from }] : []),
  ];
}
