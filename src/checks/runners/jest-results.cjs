"use strict";
/* What jest hands its results to before it ends; they are given back as they are. */
const { chosen, writeReport } = require("./write-report.cjs");

const shown = (value) => (value === undefined ? undefined : JSON.stringify(value));

function valuesOf({ failureDetails = [] }) {
  const { matcherResult } = failureDetails[0] || {};
  if (matcherResult === undefined) return {};
  const [expected, actual] = [shown(matcherResult.expected), shown(matcherResult.actual)];
  return expected === undefined || actual === undefined ? {} : { expected, actual };
}

module.exports = (results) => {
  try {
    const tests = results.testResults.flatMap(({ testFilePath, testResults, displayName }) =>
      testResults.map((test) => ({
        file: testFilePath,
        // One file may be run in several projects.
        names: [...(displayName ? [displayName.name] : []), ...test.ancestorTitles, test.title],
        // What is expected to fail shows nothing by doing so.
        status: test.failing && test.status === "passed" ? "skipped" : test.status,
        failureMessages: test.failureMessages,
        ...valuesOf(test),
      })),
    );
    const broken = results.testResults.filter(
      ({ testExecError }) => testExecError !== undefined && testExecError !== null,
    );
    const why = broken.map(({ testFilePath, failureMessage }) => ({
      file: testFilePath,
      message: failureMessage || "",
    }));
    writeReport("jest", chosen(tests, "i"), why);
  } catch {
    // Without a report; the run itself is not disturbed.
  }
  return results;
};
