"use strict";
/* A reporter of playwright, which it takes beside those of its configuration (PW_TEST_REPORTER). */
const { failureOf, writeReport } = require("./write-report.cjs");

/** With retries that the project asks for, what passes in the end has passed. */
const STATUS = { expected: "passed", flaky: "passed", unexpected: "failed", skipped: "skipped" };

module.exports = class Report {
  onBegin(config, suite) {
    this.suite = suite;
  }

  onEnd() {
    const tests = this.suite.allTests().map((test) => {
      const [, project, , ...names] = test.titlePath();
      // What is expected to fail shows nothing by doing so.
      const isToFail = test.expectedStatus === "failed" && test.outcome() === "expected";
      const status = isToFail ? "skipped" : STATUS[test.outcome()] || "skipped";
      const error = test.results.map((result) => result.error).find((found) => found !== undefined);
      const named = project ? [project, ...names] : names;
      return { file: test.location.file, names: named, status, ...(status === "failed" ? failureOf(error) : {}) };
    });
    writeReport("playwright", tests);
  }

  printsToStdio() {
    return false;
  }
};
