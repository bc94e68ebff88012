/** What a reviewer wants to know beside the checks: is the record whole, and is what was delivered what was judged. */
import type { Environment } from "../../../compose.ts";
import { TerminalError, UsageError } from "../../../errors.ts";
import type { Evidence, Fact, PathChange, Verdict } from "../../../events.ts";
import { noControlWords } from "../../../loop/control.ts";
import { MAIN_LANE } from "../../../loop/state.ts";
import type { Blobs } from "../../../ports.ts";
import { VERSION } from "../../../version.ts";
import { delivered, type Delivered } from "../../../workspace/delivered.ts";
import { counted } from "../format.ts";
import { namedBlobs, type Record } from "./record.ts";

export interface Finding {
  name: "journal" | "texts" | "outcome" | "delivery" | "branch" | "environment" | "noticed";
  /** `note`: to be read, whatever else is found. */
  is: "same" | "differs" | "unknown" | "note";
  says: string;
}

const SHORT_OID_CHARS = 10;
const MAX_NAMED = 5;
const oid = (name: string): string => name.slice(0, SHORT_OID_CHARS);
const few = (texts: readonly string[]): string =>
  texts.length > MAX_NAMED
    ? `${texts.slice(0, MAX_NAMED).join(", ")} and ${texts.length - MAX_NAMED} more`
    : texts.join(", ");

/** Every text that a fact names by its hash is there and is what was written. */
export async function textFinding(facts: readonly Fact[], blobs: Blobs): Promise<Finding> {
  const named = namedBlobs(facts);
  const wrong: string[] = [];
  for (const [hash, what] of named) {
    try {
      if ((await blobs.get(hash)) === undefined) wrong.push(`${what} is missing`);
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      wrong.push(`${what} is not what was written`);
    }
  }
  if (wrong.length > 0) return { name: "texts", is: "differs", says: few(wrong) };
  return {
    name: "texts",
    is: "same",
    says: `${counted(named.size, "text")} (prompts, logs, code), each what its hash says`,
  };
}

/** Whether the record itself carries its outcome. */
export function outcomeFinding({ outcome, verdicts, missing, accepted, isCarried }: Record): Finding {
  if (outcome === undefined) return { name: "outcome", is: "note", says: "the run has not ended" };
  const said = `${outcome.is} (${outcome.rule})`;
  if (outcome.is !== "verified") return { name: "outcome", is: "note", says: `${said}: ${outcome.reason}` };
  const red = verdicts.filter(({ check, verdict }) => check.required && verdict.is !== "pass");
  const without = missing.filter(({ required }) => required);
  const trouble = [
    ...red.map(({ check, verdict }) => `${check.name} is ${verdict.is}`),
    ...without.map(({ name }) => `${name} has no verdict on the delivered tree`),
  ];
  if (accepted === undefined)
    return { name: "outcome", is: "differs", says: `${said}, but the tree was not handed over` };
  if (!isCarried) return { name: "outcome", is: "differs", says: `${said}, but ${few(trouble)}` };
  const left = trouble.length === 0 ? "a pass of every required check" : `what the run's policy asks (${few(trouble)})`;
  return { name: "outcome", is: "same", says: `${said}: ${left} on the delivered tree is on record` };
}

export async function deliveryFindings(record: Record, { stateDir }: { stateDir: string }): Promise<Finding[]> {
  const { accepted, spec, run, tree, base } = record;
  if (accepted === undefined) return [{ name: "delivery", is: "note", says: "this tree was not handed over" }];
  const { commit, branch } = accepted;
  if (commit === null) return [{ name: "delivery", is: "note", says: "nothing was committed, as asked" }];
  try {
    const place = { spec: spec.workspace, run, lane: MAIN_LANE, stateDir };
    const found = await delivered(place, { commit, branch, base: base.commit });
    return [...commitFinding(found, { commit, tree }), ...branchFinding(found, { commit, branch })];
  } catch (error) {
    if (!(error instanceof TerminalError) && !(error instanceof UsageError)) throw error;
    return [{ name: "delivery", is: "unknown", says: error.message }];
  }
}

function commitFinding({ is, tree: holds }: Delivered, { commit, tree }: { commit: string; tree: string }): Finding[] {
  const name = "delivery" as const;
  switch (is) {
    case "missing":
      return [{ name, is: "differs", says: `commit ${oid(commit)} is not in the repository any more` }];
    case "forged":
      return [{ name, is: "differs", says: `an object of commit ${oid(commit)} is missing or not what its name says` }];
    case "whole":
      if (holds !== tree)
        return [
          {
            name,
            is: "differs",
            says: `commit ${oid(commit)} holds tree ${oid(holds ?? "?")}, judged was ${oid(tree)}`,
          },
        ];
      return [
        {
          name,
          is: "same",
          says: `commit ${oid(commit)} holds the judged tree ${oid(tree)}; its objects were hashed again`,
        },
      ];
  }
}

function branchFinding(
  { branch: found, heldBy }: Delivered,
  { commit, branch }: { commit: string; branch: string | null },
): Finding[] {
  if (branch === null) return [];
  const name = "branch" as const;
  const others = heldBy.filter((ref) => ref !== branch);
  const elsewhere = others.length === 0 ? "no other branch holds it" : `it is in ${few(others)}`;
  switch (found.is) {
    case "at":
      return [{ name, is: "same", says: `${branch} is at the delivered commit` }];
    case "ahead":
      return [
        {
          name,
          is: "note",
          says: `${branch} has moved on: ${counted(found.commits, "commit")} since the delivered one, which nobody judged here`,
        },
      ];
    case "elsewhere":
      return [
        {
          name,
          is: "differs",
          says: `${branch} is at ${oid(found.tip)}, which does not hold ${oid(commit)}; ${elsewhere}`,
        },
      ];
    case "gone":
      return [{ name, is: others.length > 0 ? "note" : "differs", says: `${branch} is gone; ${elsewhere}` }];
  }
}

/** What is not as it was then and may be why a check says something else. */
export function environmentFindings({ spec, pawl }: Record, env: Environment): Finding[] {
  const unset = Object.entries(spec.environment).flatMap(([name, value]) =>
    value === "" && env[name] === undefined ? [name] : [],
  );
  return [
    ...(pawl === VERSION ? [] : [note("environment", `the run was driven by pawl ${pawl}, this is ${VERSION}`)]),
    ...(unset.length === 0 ? [] : [note("environment", `passed to the checks then, not set now: ${few(unset)}`)]),
  ];
}

/** What the record itself warns of. */
export function noticedFindings({ verdicts, change, changes, baselines }: Record): Finding[] {
  const evidence = verdicts.flatMap(({ check, verdict }) => told(check.name, verdict));
  const paths = (found: readonly PathChange[]): string[] => [
    ...new Set(found.map(({ path, how }) => `${path} (${how})`)),
  ];
  const undone = paths(changes.flatMap((one) => one.protected ?? []));
  const kept = changes.flatMap((one) => one.kept ?? []);
  const tests = paths(change?.testsChanged ?? []);
  const followed = paths(changes.flatMap((one) => one.followed ?? []));
  const flagged = [...new Set(changes.flatMap((one) => one.flagged ?? []))];
  const red = [...baselines].filter(([, { is }]) => is === "fail" || is === "flaky").map(([name]) => name);
  return [
    ...(undone.length === 0
      ? []
      : [
          note(
            "noticed",
            `undone because it is protected: ${few(undone)}; kept as ${kept.length === 0 ? "nothing" : few(kept)}`,
          ),
        ]),
    ...(tests.length === 0 ? [] : [note("noticed", `judged in a new form, as was allowed: ${few(tests)}`)]),
    ...(followed.length === 0
      ? []
      : [note("noticed", `protected, and changed between turns or by a commit during one: ${few(followed)}`)]),
    ...(flagged.length === 0 ? [] : [note("noticed", `programs on your machine act on: ${few(flagged)}`)]),
    ...evidence,
    ...(red.length === 0 ? [] : [note("noticed", `red before the first turn: ${few(red)}`)]),
  ];
}

function told(check: string, verdict: Verdict): Finding[] {
  if (!("evidence" in verdict)) return [];
  const { suspicions, quarantined = [], skips = [], control }: Evidence = verdict.evidence;
  return [
    ...suspicions.map((text) => note("noticed", `${check}: suspicious: ${text}`)),
    ...(quarantined.length === 0 ? [] : [note("noticed", `${check}: not counted, by quarantine: ${few(quarantined)}`)]),
    ...(skips.length === 0 ? [] : [note("noticed", `${check}: skipped, and not seen so on the base: ${few(skips)}`)]),
    ...(control === "seen" ? [note("noticed", `${check}: saw the failure that was planted as a control`)] : []),
    ...(control === "none" ? [note("noticed", `${check}: ${noControlWords(verdict.evidence)}`)] : []),
  ];
}

const note = (name: Finding["name"], says: string): Finding => ({ name, is: "note", says });
