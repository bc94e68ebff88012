/** What one simple command runs, reads as a runner's settings, or hands to another shell: by its words alone. Pure. */

export interface Named {
  /** Programs of the repository, and scripts given to a shell. */
  run: string[];
  /** Given to an interpreter, which may run the product as well. */
  interpreted: string[];
  sourced: string[];
  /** By an option of a runner: settings, preloaded modules. */
  opened: string[];
  /** The same, where nobody complains when it is not there. */
  optional: string[];
  /** Files, or patterns of them, that a runner is given as tests. */
  tests: string[];
  /** Texts that a shell runs. */
  texts: string[];
  /** Where what follows is run. */
  cd?: string;
  /** Folder in which make, or a package manager, works. */
  folder?: string;
}

/** Options with a value of their own, and how many words come before the command. */
const WRAPPERS: Readonly<Record<string, { valued?: string; before?: number }>> = {
  env: { valued: "-u -C -S --unset --chdir" },
  exec: { valued: "-a" },
  time: { valued: "-f -o" },
  xargs: { valued: "-n -P -I -L -d -a -s -E" },
  timeout: { valued: "-k -s --kill-after --signal", before: 1 },
  gtimeout: { valued: "-k -s --kill-after --signal", before: 1 },
  nice: { valued: "-n --adjustment" },
  ionice: { valued: "-c -n --class --classdata" },
  taskset: { before: 1 },
  chrt: { before: 1 },
  flock: { valued: "-w -E", before: 1 },
  nohup: {},
  setsid: {},
  stdbuf: { valued: "-i -o -e" },
  unbuffer: {},
  "xvfb-run": { valued: "-n -s -e -f -p -w --server-num --server-args --error-file --auth-file --wait" },
  "dbus-run-session": { valued: "--config-file --dbus-daemon" },
  command: {},
  builtin: {},
  sudo: { valued: "-u -g" },
  strace: { valued: "-e -o -s" },
  npx: { valued: "-p --package" },
  bunx: {},
  dotenv: { valued: "-e -c" },
};
/** Those of two words. */
const KEEPERS = /^(uv|poetry|pdm|pipenv|hatch|rye) run$|^(pnpm|yarn|npm|bundle) (exec|dlx)$/;
const KEYWORDS = /^(if|then|else|elif|while|until|do|!|\{|&&)$/;
const SHELL = /^(ba|da|z|k|a)?sh$/;
const INTERPRETER = /^(node|deno|bun|tsx|ts-node|python[\d.]*|pypy3?|ruby|perl|php)$/;
const SUBCOMMAND: Readonly<Record<string, RegExp>> = { deno: /^(run|test)$/, bun: /^(run|test)$/ };

const IF_THERE = "--env-file-if-exists";
const PRELOADS =
  "-r --require --import --loader --experimental-loader --env-file --env-file-if-exists --test-global-setup";
const SET_UP = "-c --config --globalSetup --global-setup --setupFiles --setupFilesAfterEnv";
/** Options that name files, by program; `-p:module` names a module of Python. */
const OPENS: Readonly<Record<string, string>> = {
  node: `${PRELOADS} --test-reporter`,
  tsx: `${PRELOADS} --tsconfig`,
  "ts-node": `${PRELOADS} -P --project`,
  bun: "-r --preload --config --env-file",
  deno: "-c --config --import-map --env-file --preload",
  mocha: "-r --require --file --config --import --loader --opts --package",
  jasmine: "--config --helper --require",
  ava: "--config",
  nyc: "--nycrc-path -r --require",
  c8: "-c --config",
  vitest: SET_UP,
  jest: `${SET_UP} --testEnvironment --reporters --runner --transform`,
  playwright: "-c --config",
  cypress: "-C --config-file",
  cucumber: "-c --config -r --require -i --import",
  "cucumber-js": "-c --config -r --require -i --import",
  pytest: "-c --config-file --confcutdir -p:module",
  "py.test": "-c --config-file --confcutdir -p:module",
  tox: "-c --conf",
  nox: "-f --noxfile",
  coverage: "--rcfile",
  invoke: "-c:module --collection:module -f --config",
  inv: "-c:module --collection:module -f --config",
  eslint: "-c --config --rulesdir --resolve-plugins-relative-to",
  oxlint: "-c --config",
  prettier: "--config",
  stylelint: "-c --config",
  biome: "--config-path",
  tsc: "-p --project",
  ruff: "--config",
  mypy: "--config-file",
  pylint: "--rcfile",
  flake8: "--config",
  "golangci-lint": "-c --config",
  rspec: "-r --require -O --options",
  rubocop: "-c --config -r --require",
  rake: "-f --rakefile",
  phpunit: "-c --configuration --bootstrap",
  make: "-f --file --makefile",
  gmake: "-f --file --makefile",
  just: "-f --justfile",
  gulp: "-f --gulpfile",
  grunt: "--gruntfile",
  "pre-commit": "-c --config",
};
/** Runners whose plain words are tests; of others they may be names of tests, or folders of the product. */
const TAKES_TESTS = /^(mocha|ava|tap|tape|uvu|qunit|jasmine|bats|prove|rspec|pytest|py\.test)$/;
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  make: ["-C", "--directory"],
  gmake: ["-C", "--directory"],
  npm: ["--prefix", "-C"],
  pnpm: ["-C", "--dir"],
  yarn: ["--cwd"],
  bun: ["--cwd"],
};

const nothing = (): Named => ({
  run: [],
  interpreted: [],
  sourced: [],
  opened: [],
  optional: [],
  tests: [],
  texts: [],
});

export function namedBy(given: readonly string[], input?: string): Named {
  const named = nothing();
  const words = unwrapped(given, named);
  const [first = "", ...rest] = words;
  const program = nameOf(first);
  options(words, named);
  if (first === "cd" || first === "pushd") {
    const to = rest.find((word) => !word.startsWith("-"));
    return to === undefined ? named : { ...named, cd: to };
  }
  if (first === "." || first === "source") named.sourced.push(...rest.slice(0, 1));
  // What a loop goes over may be run in it.
  else if (first === "for") named.interpreted.push(...rest.slice(rest.indexOf("in") + 1));
  else if (first === "eval") named.texts.push(rest.join(" "));
  else if (SHELL.test(program)) shell(rest, { named, input });
  else if (INTERPRETER.test(program)) interpreter(rest, { named, program });
  else if (/[^/]\/|^\.\//.test(first) || /\.(sh|bash|bats|py)$/.test(first)) named.run.push(first);
  return named;
}

/** The program that is run in the end, with its words. */
export const programIn = (given: readonly string[]): string[] => unwrapped(given, nothing());

const nameOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

/** Without what only sets the stage: variables, `timeout 60`, `uv run`. */
function unwrapped(given: readonly string[], named: Named): string[] {
  let words = given.map((word, at) => (at === 0 ? word.replace(/^[@+-]+(?=[\w./])/, "") : word));
  for (;;) {
    const [first = "", second = ""] = words;
    const [, variable, value = ""] = /^(\w+)=(.*)$/s.exec(first) ?? [];
    const wrapper = Object.hasOwn(WRAPPERS, nameOf(first)) ? WRAPPERS[nameOf(first)] : undefined;
    if (variable !== undefined) {
      if (variable === "NODE_OPTIONS") options(["node", ...value.split(/\s+/)], named);
      if (variable === "PYTEST_ADDOPTS") options(["pytest", ...value.split(/\s+/)], named);
      if (variable === "BASH_ENV" || variable === "ENV") named.sourced.push(value);
      words = words.slice(1);
    } else if (KEYWORDS.test(first)) words = words.slice(1);
    else if (KEEPERS.test(`${first} ${second}`)) words = afterOptions(words.slice(2), new Set());
    else if (wrapper !== undefined)
      words = afterOptions(words.slice(1), new Set(wrapper.valued?.split(" "))).slice(wrapper.before ?? 0);
    else return words;
  }
}

function afterOptions(words: readonly string[], valued: ReadonlySet<string>): string[] {
  let at = 0;
  while (at < words.length && words[at]?.startsWith("-") === true) at += valued.has(words[at] ?? "") ? 2 : 1;
  return words.slice(at);
}

/** Of the runner that was named last: `nyc mocha -r x` means mocha's. */
function options(words: readonly string[], named: Named): void {
  let runner = "";
  for (const [at, word] of words.entries()) {
    const name = nameOf(word);
    if ([OPENS, FOLDERS].some((known) => Object.hasOwn(known, name)) || TAKES_TESTS.test(name)) runner = name;
    if (TAKES_TESTS.test(runner) && name !== runner && !valuesOf(runner).has(words[at - 1] ?? ""))
      named.tests.push(word);
    if (!word.startsWith("-")) continue;
    const [, option = "", attached] = /^(--[\w-]+|-\w)(?:=?(.+))?$/s.exec(word) ?? [];
    const value = attached ?? words[at + 1];
    if (value === undefined) continue;
    if (FOLDERS[runner]?.includes(option) === true) named.folder = value;
    for (const known of OPENS[runner]?.split(" ") ?? []) {
      const [flag, kind] = known.split(":");
      if (flag !== option) continue;
      if (option === IF_THERE) named.optional.push(value);
      const module = value.replaceAll(".", "/");
      named.opened.push(...(kind === "module" ? [`${module}.py`, `${module}/__init__.py`] : value.split(",")));
    }
  }
}

const valuesOf = (runner: string): ReadonlySet<string> =>
  new Set((OPENS[runner] ?? "").split(" ").map((known) => known.replace(/:.*/, "")));

function shell(words: readonly string[], { named, input }: { named: Named; input: string | undefined }): void {
  let takesText = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!/^[-+]./.test(word)) {
      (takesText ? named.texts : named.run).push(word);
      return;
    }
    if (/^--(rcfile|init-file)$/.test(word)) named.sourced.push(words[(at += 1)] ?? "");
    else if (/^[-+]\w*[oO]$/.test(word)) at += 1;
    if (/^-\w*c/.test(word)) takesText = true;
  }
  if (input !== undefined) named.run.push(input);
}

function interpreter(words: readonly string[], { named, program }: { named: Named; program: string }): void {
  const valued = valuesOf(program);
  const plain: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (/^(python|pypy)/.test(program) && word === "-m") {
      const module = (words[at + 1] ?? "").replaceAll(".", "/");
      named.interpreted.push(`${module}.py`, `${module}/__main__.py`);
      return;
    }
    if (valued.has(word)) at += 1;
    else if (!word.startsWith("-") && !(plain.length === 0 && SUBCOMMAND[program]?.test(word) === true))
      plain.push(word);
  }
  if (words.includes("--test")) named.tests.push(...plain);
  named.interpreted.push(...(words.includes("--test") ? plain : plain.slice(0, 1)));
}
