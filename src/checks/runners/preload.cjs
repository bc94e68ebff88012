"use strict";
/*
 * Loaded into every Node program that a check starts, before its own first line. Where that program is a known test
 * runner, it is given one more reporter, which writes to the folder this file lies in; all others are left alone, and so
 * is everything a runner starts. Plain JavaScript for any Node: it runs under the project's own.
 */
const { existsSync, readFileSync, realpathSync, writeFileSync } = require("fs");
const paths = require("path");

const MAX_CONFIG_CHARS = 256 * 1024;
/** Versions that know `--test-reporter`. */
const FIRST_WITH_REPORTERS = { 18: 15, 19: 6 };
/** From here on `spec` is what node prints where there is no terminal. */
const FIRST_WITH_SPEC = 23;

const beside = (name) => paths.join(__dirname, name);
const add = (...words) => {
  const end = process.argv.indexOf("--", 2);
  process.argv.splice(end === -1 ? process.argv.length : end, 0, ...words);
};

/** Arguments with which a runner tells of itself and runs nothing. */
const RUNS_NOTHING =
  /^--(version|help|listTests|clearCache|showConfig|init|dry-run|list-files|list-reporters|list-interfaces)(=|$)|^-[hvV]$/;

/** Arguments by which some tests are chosen. */
const CHOOSES =
  /^--(testNamePattern|grep|fgrep|test-name-pattern|test-skip-pattern|test-only|shard|onlyFailures)(=|$)|^-[tgf]$/;

/** That it was asked and began: a runner that ends without its report was left before its tests were over. */
function begun(kind) {
  if (process.argv.slice(2).some((word) => RUNS_NOTHING.test(word))) return;
  const some = [...process.execArgv, ...process.argv.slice(2)].some((word) => CHOOSES.test(word));
  writeFileSync(beside(`out/begun-${kind}.json`), JSON.stringify({ begun: kind, some }));
}

const ASKS = `--require=${__filename}`;
const withoutUs = (path) => path.split(paths.delimiter).filter((folder) => folder !== __dirname);

/** What the runner starts must neither report nor know of this place. */
function forget() {
  const ours = [ASKS, `--junitxml=${beside("out/pytest.xml")}`, "-o junit_family=xunit1"];
  for (const name of ["NODE_OPTIONS", "PYTEST_ADDOPTS"]) {
    const kept = ours.reduce((text, word) => text.split(word).join(""), process.env[name] || "").trim();
    if (kept === "") delete process.env[name];
    else process.env[name] = kept;
  }
  if (process.env.PATH !== undefined) process.env.PATH = withoutUs(process.env.PATH).join(paths.delimiter);
}

/** They set no variable that is set already, and start by name: what is on the PATH asks. */
const READS_VARIABLES = /\/(dotenv-cli|env-cmd|@dotenvx)\//;

/** What other programs start is asked too, by whatever name or path it is started. */
function remember(main) {
  if (READS_VARIABLES.test(main)) return;
  const options = process.env.NODE_OPTIONS || "";
  if (!options.includes(ASKS)) process.env.NODE_OPTIONS = `${options} ${ASKS}`.trim();
}

/** Package managers put folders with a node of their own before all others. */
function stayFirst() {
  const { ChildProcess } = require("child_process");
  const { spawn } = ChildProcess.prototype;
  const first = (pair) => {
    const folders = pair.startsWith("PATH=") ? pair.slice("PATH=".length) : "";
    const others = withoutUs(folders);
    return others.join(paths.delimiter) === folders ? pair : `PATH=${[__dirname, ...others].join(paths.delimiter)}`;
  };
  ChildProcess.prototype.spawn = function (options) {
    if (options && Array.isArray(options.envPairs)) options.envPairs = options.envPairs.map(first);
    return spawn.call(this, options);
  };
}

/** The nearest file of these names, from a folder upwards. */
function nearest(folder, names) {
  for (;;) {
    const found = names.map((name) => paths.join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined || paths.dirname(folder) === folder) return found;
    folder = paths.dirname(folder);
  }
}

const textOf = (file) => (file === undefined ? "" : readFileSync(file, "utf8").slice(0, MAX_CONFIG_CHARS));
const endings = (name) => ["ts", "mts", "cts", "js", "mjs", "cjs"].map((ending) => `${name}.config.${ending}`);
const valueOf = (...names) => {
  const at = process.argv.findIndex((word) => names.includes(word.split("=")[0]));
  const word = process.argv[at];
  return at === -1 ? undefined : word.includes("=") ? word.slice(word.indexOf("=") + 1) : process.argv[at + 1];
};

/** A reporter given by argument replaces those of the configuration, so that these are named again. */
function vitest() {
  const words = process.argv.slice(2);
  if (["list", "bench", "init"].includes(words[0])) return;
  let reporters = [];
  if (!words.some((word) => /^--reporters?(=|$)/.test(word))) {
    const folder = valueOf("--root", "-r") || process.cwd();
    const file = valueOf("--config", "-c") || nearest(folder, [...endings("vitest"), ...endings("vite")]);
    const found = textOf(file).match(/\breporters\b\s*:?\s*(\[[^\]]*\]|"[^"]*"|'[^']*')?/g) || [];
    const named = found.length === 1 ? found[0].match(/["'][^"']*["']/g) || [] : [];
    const isPlain = found.length === 1 && /^[\w:\s[\]"',/.-]*$/.test(found[0]) && named.length > 0;
    if (found.length > 0 && !isPlain) return;
    reporters = found.length === 0 ? ["default"] : named.map((name) => name.slice(1, -1));
  }
  begun("vitest");
  forget();
  add(...reporters.map((name) => `--reporter=${name}`), `--reporter=${beside("vitest-report.mjs")}`);
}

function jest() {
  const isTaken = (text) => text.includes("testResultsProcessor");
  const config =
    valueOf("--config", "-c") || nearest(process.cwd(), endings("jest").concat("jest.config.json", "package.json"));
  if (process.argv.some(isTaken) || isTaken(config !== undefined && existsSync(config) ? textOf(config) : "")) return;
  begun("jest");
  forget();
  add(`--testResultsProcessor=${beside("jest-results.cjs")}`);
}

/** Its events are the same since ever, whatever reporter listens. */
function mocha(main) {
  const root = main.slice(0, main.lastIndexOf("/mocha/") + "/mocha/".length);
  const loaded = require(paths.join(root, "lib/runner.js"));
  const Runner = loaded.Runner || loaded.default || loaded;
  const { listenTo } = require("./mocha-report.cjs");
  const emit = Runner.prototype.emit;
  begun("mocha");
  Runner.prototype.emit = function (event, ...about) {
    if (event === "start") forget();
    listenTo(this, event, about);
    return emit.call(this, event, ...about);
  };
}

/** Its options cannot be changed any more: the same again, with one reporter more. */
function nodeTest() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const first = FIRST_WITH_REPORTERS[major];
  if (major < 18 || (first !== undefined && minor < first)) return;
  const given = process.execArgv.map((word) => word.split("=")[0]);
  const count = (name) => given.filter((word) => word === name).length;
  const reporters = count("--test-reporter");
  const destinations = count("--test-reporter-destination");
  if (given.includes("--watch") || (process.env.NODE_OPTIONS || "").includes("--test-reporter")) return;
  const usual = process.stdout.isTTY || major >= FIRST_WITH_SPEC ? "spec" : "tap";
  const words = [
    ...(reporters === 0 ? [`--test-reporter=${usual}`] : []),
    ...(destinations === 0 ? ["--test-reporter-destination=stdout"] : []),
    `--test-reporter=${beside("node-report.cjs")}`,
    "--test-reporter-destination=stdout",
  ];
  begun("node");
  forget();
  const { spawnSync } = require("child_process");
  const all = [...process.execArgv, ...words, ...process.argv.slice(1)];
  const { status, signal } = spawnSync(process.execPath, all, { stdio: "inherit" });
  if (signal !== null) process.kill(process.pid, signal);
  process.exit(status === null ? 1 : status);
}

function begin() {
  if (!require("worker_threads").isMainThread || process.env.NODE_TEST_CONTEXT !== undefined) return;
  process.execArgv = process.execArgv.filter((word) => word !== ASKS);
  if (process.execArgv.includes("--test")) return nodeTest();
  const main = process.argv[1] === undefined ? "" : realpathSync(process.argv[1]).split("\\").join("/");
  remember(main);
  if (main.endsWith("/vitest/vitest.mjs")) vitest();
  else if (/\/(jest|jest-cli)\/bin\/jest\.js$/.test(main)) jest();
  else if (/\/mocha\/(bin\/_?mocha(\.m?js)?|lib\/cli\/cli\.js)$/.test(main)) mocha(main);
  else stayFirst();
}

try {
  begin();
} catch {
  // A runner that cannot be asked is run as it is.
}
