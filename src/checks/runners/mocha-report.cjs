"use strict";
/* Listens to mocha's runner. A hook that fails is a failure, but no test. */
const { failureOf, writeReport } = require("./write-report.cjs");

const STATUS = { pass: "passed", fail: "failed", pending: "pending" };
const seen = new WeakMap();
/** Tests that threw what mocha skips by: without its own mark at the test, it takes that for a good end. */
const skipped = new WeakSet();

function isSkip(error) {
  for (let at = Object(error); at !== null; at = Object.getPrototypeOf(at))
    if (/^Pending(Error)?$/.test((at.constructor || {}).name)) return true;
  return false;
}

function watch(test) {
  const { fn } = test;
  if (typeof fn !== "function") return;
  const note = (error) => void (isSkip(error) && skipped.add(test));
  test.fn = function (...args) {
    try {
      const result = fn.apply(this, args);
      if (result && typeof result.then === "function") result.then(undefined, note);
      return result;
    } catch (error) {
      note(error);
      throw error;
    }
  };
}

function namesOf(test) {
  if (typeof test.titlePath === "function") return test.titlePath();
  return [typeof test.fullTitle === "function" ? test.fullTitle() : String(test.title)];
}

function listenTo(runner, event, [test, error]) {
  try {
    if (!seen.has(runner)) seen.set(runner, []);
    const tests = seen.get(runner);
    if (event === "end") return writeReport("mocha", tests);
    if (event === "test") return watch(test);
    if (STATUS[event] === undefined) return;
    const file = test.file || (test.parent && test.parent.file) || "";
    const failure = event === "fail" ? failureOf(error) : {};
    const hook = test.type === "hook" ? { broken: true } : {};
    const status = skipped.has(test) && event === "pass" ? "pending" : STATUS[event];
    tests.push({ file, names: namesOf(test), status, ...hook, ...failure });
  } catch {
    // Without a report; the run itself is not disturbed.
  }
}

module.exports = { listenTo };
