"use strict";
/* A reporter of node:test that prints nothing and writes what it saw. */
const { readFileSync } = require("fs");
const paths = require("path");
const { failureOf, writeReport } = require("./write-report.cjs");

const MAX_STDERR_CHARS = 8000;
/** A file that ended badly is a test with its own path as its name. */
const isFile = ({ name, file = "", nesting }) => nesting === 0 && (name === file || file.endsWith(`/${name}`));

/** Such a file that passes as a whole was left before its tests began: then it is no test. */
function asksForTests(file) {
  try {
    return /["'`]node:test["'`]/.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}

const lastError = (text = "") => text.slice(Math.max(0, text.search(/^\S*Error\b/m))).replace(/^Node\.js v.*$/m, "");

module.exports = async function* report(source) {
  const tests = [];
  const broken = [];
  /** Names above, by file: those of several files may come mixed. */
  const above = new Map();
  const printed = new Map();
  for await (const { type, data } of source) {
    if (type === "test:start") {
      const names = above.get(data.file) || [];
      above.set(data.file, [...names.slice(0, data.nesting), data.name]);
    }
    if (type === "test:stderr" && data.file !== undefined) {
      const file = paths.resolve(data.file);
      printed.set(file, `${printed.get(file) || ""}${data.message}`.slice(-MAX_STDERR_CHARS));
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { error, type: kind } = data.details || {};
    const file = data.file || "";
    // What is expected to fail shows nothing by doing so.
    const isSkipped =
      data.skip !== undefined || data.todo !== undefined || (type === "test:pass" && Boolean(data.expectFailure));
    const why = error && error.cause !== undefined && error.cause !== null ? error.cause : error;
    const failure = type === "test:fail" ? failureOf(why) : {};
    if (isFile(data)) {
      if (type === "test:fail")
        broken.push({ file, message: lastError(printed.get(file)) || failure.failureMessages[0] });
      else if (!asksForTests(file)) tests.push({ file, names: [data.name], status: "passed" });
      continue;
    }
    if (kind === "suite") continue;
    const names = [...(above.get(data.file) || []).slice(0, data.nesting), data.name];
    const status = isSkipped ? "skipped" : type === "test:pass" ? "passed" : "failed";
    tests.push({ file, names, status, ...(status === "failed" ? failure : {}) });
  }
  try {
    writeReport("node", tests, broken);
  } catch {
    // Without a report; the run itself is not disturbed.
  }
  yield "";
};
