"use strict";
/* Listens to mocha's runner. A hook that fails is a failure, but no test. */
const { failureOf, writeReport } = require("./write-report.cjs");

const STATUS = { pass: "passed", fail: "failed", pending: "pending" };
const seen = new WeakMap();

function namesOf(test) {
  if (typeof test.titlePath === "function") return test.titlePath();
  return [typeof test.fullTitle === "function" ? test.fullTitle() : String(test.title)];
}

function listenTo(runner, event, [test, error]) {
  try {
    if (!seen.has(runner)) seen.set(runner, []);
    const tests = seen.get(runner);
    if (event === "end") return writeReport("mocha", tests);
    if (STATUS[event] === undefined) return;
    const file = test.file || (test.parent && test.parent.file) || "";
    const failure = event === "fail" ? failureOf(error) : {};
    const hook = test.type === "hook" ? { broken: true } : {};
    tests.push({ file, names: namesOf(test), status: STATUS[event], ...hook, ...failure });
  } catch {
    // Without a report; the run itself is not disturbed.
  }
}

module.exports = { listenTo };
