"use strict";
/* Writes what a runner's listeners saw, in the shape of jest's JSON, to a file of its own: a command may run several. */
const { writeFileSync } = require("fs");
const paths = require("path");

const MAX_VALUE_CHARS = 300;
const MAX_MESSAGE_CHARS = 8000;

const text = (value) => {
  if (value === undefined) return undefined;
  try {
    const shown = typeof value === "string" ? JSON.stringify(value) : require("util").inspect(value, { depth: 3 });
    return shown.slice(0, MAX_VALUE_CHARS);
  } catch {
    return undefined;
  }
};

/** Of an error as runners keep them: message, stack, and the values where an assertion has them. */
function failureOf(error, show = text) {
  if (error === undefined || error === null) return { failureMessages: [""] };
  const { name = "Error", message = String(error), stack = "", expected, actual } = error;
  const head = /^\S*(Error|Exception): /.test(message) ? message : `${name}: ${message}`;
  const frames = String(stack).slice(Math.max(0, String(stack).search(/^\s+at /m)));
  const both =
    "expected" in Object(error) && "actual" in Object(error) && !(expected === undefined && actual === undefined);
  return {
    failureMessages: [`${head}\n${/^\s+at /m.test(frames) ? frames : ""}`.slice(0, MAX_MESSAGE_CHARS)],
    ...(both ? { expected: show(expected), actual: show(actual) } : {}),
  };
}

/** Those that `-t` does not choose are said to be skipped, and are no part of what is run. */
function chosen(tests, flags) {
  const words = process.argv.slice(2);
  const at = words.findIndex((word) => /^(-t|--testNamePattern)(=|$)/.test(word));
  if (at === -1) return tests;
  const given = words[at].includes("=") ? words[at].slice(words[at].indexOf("=") + 1) : words[at + 1] || "";
  const pattern = new RegExp(given, flags);
  return tests.filter(({ names, status }) => STATUSES.includes(status) || pattern.test(names.join(" ")));
}

const STATUSES = ["passed", "failed"];

/** `tests`: of all files; each { file, names, status, … }. `broken`: files that could not be run, with why. */
function writeReport(kind, tests, broken = []) {
  const files = new Map();
  const of = (name) => {
    if (!files.has(name)) files.set(name, { name, status: "passed", message: "", assertionResults: [] });
    return files.get(name);
  };
  for (const { file, names, ...rest } of tests) {
    of(file).assertionResults.push({ ancestorTitles: names.slice(0, -1), title: names[names.length - 1], ...rest });
  }
  for (const { file, message } of broken) Object.assign(of(file), { status: "failed", broken: true, message });
  const name = `${kind}-${process.pid}-${Math.random().toString(36).slice(2)}.json`;
  writeFileSync(paths.join(__dirname, "out", name), JSON.stringify({ kind, testResults: [...files.values()] }));
}

module.exports = { chosen, failureOf, writeReport };
