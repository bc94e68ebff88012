/** Requirements on files of the judged tree: there or not, what they say, how long they are, whether they fit a schema. */
import type { Failure } from "../events.ts";
import type { Check } from "../ports.ts";
import type { CheckSpecOf, Requirement } from "../spec.ts";
import { inProcessCheck } from "./in-process.ts";
import { unmetBeside } from "./requirement/beside.ts";
import { unmet } from "./requirement/unmet.ts";
import { readTreeFile } from "./tree-file.ts";

const MAX_FILE_BYTES = 4 * 1024 * 1024;

export function requirementCheck(spec: CheckSpecOf<"requirement">): Check {
  return inProcessCheck(spec, async ({ tree, signal }) => {
    const failures: Failure[] = [];
    for (const requirement of spec.require) {
      signal.throwIfAborted();
      failures.push(...(await missing(requirement, { root: tree.path, signal })));
    }
    return failures;
  });
}

async function missing(
  requirement: Requirement,
  { root, signal }: { root: string; signal: AbortSignal },
): Promise<Failure[]> {
  const { file, exists = true } = requirement;
  const failure = (what: string, says: string): Failure[] => [
    { fingerprint: `requires:${file}:${what}`, message: `${file} ${says}`, file },
  ];
  const found = await readTreeFile(root, file, MAX_FILE_BYTES);
  if (!exists) return found.is === "missing" ? [] : failure("exists", "must not exist");
  if (found.is === "missing") return failure("exists", "does not exist");
  if (found.is === "too-large" && asksNothingOfTheText(requirement)) return [];
  if (found.is !== "text") return failure("readable", found.why);
  return mayTakeForEver(requirement)
    ? await unmetBeside(requirement, found.text, signal)
    : unmet(requirement, found.text);
}

const asksNothingOfTheText = (requirement: Requirement): boolean =>
  Object.keys(requirement).every((key) => key === "file" || key === "exists");

/** Patterns, those inside a schema too. */
const mayTakeForEver = ({ matches = [], lacks = [], number, schema }: Requirement): boolean =>
  matches.length > 0 || lacks.length > 0 || number !== undefined || schema !== undefined;
