/** Templates of the prompt and of commit titles, and the agent's own files: looked at before anything is spent or changed. */
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Resolved } from "../config.ts";
import { nearest } from "../config/nearest.ts";
import { UsageError } from "../errors.ts";
import { TITLE_VARIABLES } from "../loop/commit-message.ts";
import { unclosedLine, usesOf } from "../loop/template.ts";
import { readTextFile } from "../platform/text-file.ts";
import type { Base } from "../ports.ts";
import type { RunSpec } from "../spec.ts";
import { templateNames } from "./first-prompt.ts";
import { lookUp } from "../platform/look-up.ts";

const MAX_TEMPLATE_BYTES = 64 * 1024;
/** What other loops call it. */
const ALSO_KNOWN_AS: Readonly<Record<string, string>> = {
  prompt: "goal",
  completion_promise: "promise",
  context: "directives",
};

/** A file named in a settings file is looked for beside it, one named by a flag or variable where the person stands. */
export function readTemplate({ settings, origins }: Resolved, { cwd }: { cwd: string }): string | undefined {
  const { template } = settings;
  if (template === undefined) return undefined;
  const { from, where = "" } = origins.template ?? {};
  const beside = from === "project" || from === "user" ? dirname(where) : cwd;
  return readTextFile(resolve(beside, template), { what: "the template", maxBytes: MAX_TEMPLATE_BYTES });
}

export function refuseTemplates({ spec, base }: { spec: RunSpec; base: Base }): void {
  const { template } = spec;
  const title = spec.workspace.commitTitle;
  if (title !== undefined) refuseUnknown(title, { what: "commit-title", names: TITLE_VARIABLES });
  if (template === undefined) return;
  const { names, once } = templateNames({ spec, base });
  refuseUnknown(template, { what: "the template", names });
  for (const name of once) {
    const lines = usesOf(template).flatMap((use) => (use.name === name ? [use.line] : []));
    if (lines.length > 1) throw new UsageError(`the template has {{${name}}} twice, in lines ${lines.join(" and ")}`);
  }
}

function refuseUnknown(text: string, { what, names }: { what: string; names: readonly string[] }): void {
  const open = unclosedLine(text);
  if (open !== undefined) {
    throw new UsageError(`${what} has a {{ without }} in line ${open}`, { hint: "write {{{{ for two braces" });
  }
  const unknown = usesOf(text).find(({ name }) => !names.includes(name));
  if (unknown === undefined) return;
  const { name, line } = unknown;
  const meant = nearest(name, names) ?? lookUp(ALSO_KNOWN_AS, name);
  throw new UsageError(`${what} has an unknown variable {{${name}}} in line ${line}`, {
    hint:
      meant !== undefined && names.includes(meant)
        ? `did you mean {{${meant}}}?`
        : `there are: ${names.join(", ")}; {{{{ stands for two braces`,
  });
}

/** What is no plain file would be left alone for the whole run; better said at once. */
export function refuseMemoFiles({ notes, knowledge, workspace }: RunSpec): void {
  for (const [name, memo] of Object.entries({ notes, knowledge })) {
    const found =
      memo === undefined ? undefined : lstatSync(join(workspace.path, memo.file), { throwIfNoEntry: false });
    if (memo === undefined || found === undefined || found.isFile()) continue;
    const what = found.isDirectory() ? "a directory" : found.isSymbolicLink() ? "a symbolic link" : "no plain file";
    throw new UsageError(`${name}: ${memo.file} is ${what}`, { hint: `give another file: --${name} FILE` });
  }
}
