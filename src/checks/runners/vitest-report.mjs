/* A reporter of vitest: tasks as they are since its beginning (`onFinished`), modules since version 3 (`onTestRunEnd`). */
import { chosen, failureOf, writeReport } from "./write-report.cjs";

const STATUS = { pass: "passed", passed: "passed", fail: "failed", failed: "failed" };
/** What is expected to fail shows nothing by doing so. */
const statusOf = (state, isToFail) =>
  isToFail && STATUS[state] === "passed" ? "skipped" : (STATUS[state] ?? "skipped");
/** It keeps them as text already. */
const asTold = (value) => (typeof value === "string" ? value : undefined);
const messagesOf = (errors) => errors.map((error) => failureOf(error).failureMessages[0]).join("\n");

function namesOf(test) {
  const names = [];
  for (let at = test; at !== undefined && at.type !== "module"; at = at.parent) names.unshift(at.name);
  return names;
}

/** One file may be run in several projects. */
const projectOf = ({ project }) => (project?.name ? [project.name] : []);

function ofModule(module) {
  return [...module.children.allTests()].map((test) => {
    const { state, errors = [] } = test.result();
    const failure = state === "failed" ? failureOf(errors[0], asTold) : {};
    return {
      file: module.moduleId,
      names: [...projectOf(module), ...namesOf(test)],
      status: statusOf(state, test.options?.fails),
      ...failure,
    };
  });
}

function ofTasks(file, tasks, above) {
  return tasks.flatMap((task) => {
    if (task.tasks !== undefined) return ofTasks(file, task.tasks, [...above, task.name]);
    const { state, errors = [] } = task.result ?? {};
    const failure = state === "fail" ? failureOf(errors[0], asTold) : {};
    return [{ file, names: [...above, task.name], status: statusOf(state, task.fails), ...failure }];
  });
}

class Report {
  onTestRunEnd(modules) {
    const broken = modules.filter((module) => module.errors().length > 0);
    writeReport(
      "vitest",
      chosen(modules.flatMap(ofModule)),
      broken.map((module) => ({ file: module.moduleId, message: messagesOf(module.errors()) })),
    );
  }

  onFinished(files = []) {
    // Newer ones tell both ways.
    if (files.some((file) => file.filepath === undefined)) return;
    const broken = files.filter((file) => file.result?.state === "fail" && (file.result.errors ?? []).length > 0);
    writeReport(
      "vitest",
      chosen(files.flatMap((file) => ofTasks(file.filepath, file.tasks, []))),
      broken.map((file) => ({ file: file.filepath, message: messagesOf(file.result.errors) })),
    );
  }
}

export { Report as default };
