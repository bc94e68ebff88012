/**
 * A command as a check: exit 0 on the verify tree with every test that the base ran is a pass, any other exit a failure
 * with fingerprints, and whatever keeps it from answering (timeout, a limit, a signal from outside, no such program, no
 * space for the log) is `unverifiable`; but a base that does not end is red for that, and so is then what still does not.
 */
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Evidence, Failure, Verdict } from "../events.ts";
import type { Blobs, BlobWriter, Check, JudgeAbout, VerifyTree } from "../ports.ts";
import type { CheckSpecOf, ProtectSpec } from "../spec.ts";
import { RUN_TAG } from "../platform/environment.ts";
import { fault } from "../platform/faults.ts";
import { runProcess } from "../platform/process.ts";
import type { Confine, ProcessRecord } from "../platform/process.ts";
import { withAddedSkips } from "./added-skips.ts";
import { missingProgram } from "./command-words.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { madeNames } from "./made-names.ts";
import { isOneRunner } from "./one-runner.ts";
import { asBroken, isChosen, isRunner, leftEarly } from "./report/begun.ts";
import { isCrate } from "./report/cargo.ts";
import { saysNoTests } from "./report/counts.ts";
import { diagnosticsIn } from "./report/diagnostics.ts";
import { linesOf } from "./report/lines.ts";
import type { Places } from "./report/places.ts";
import { printedReport } from "./report/printed.ts";
import { countsOf, merged, reportOf, type TestReport } from "./report/report.ts";
import { writtenReport } from "./report/written.ts";
import { askingRunners, type ReportPlace } from "./runners/ask.ts";
import { rewrittenTests } from "./rewritten.ts";
import { endOf, plain, tailOf } from "./tail.ts";
import { besideProduct, telltalesOf } from "./telltales.ts";
import { anySkips, testSources, type TestSources } from "./test-sources.ts";
import { missingTests, onOneSide, parseStatuses, type TestStatuses } from "./tests-missing.ts";
import { counted } from "../plural.ts";

const SHELL = "/bin/sh";
/** `$0` of the shell, so that its own complaints can be told from those of shells inside the command. */
const SHELL_NAME = "pawl-check";
/** Kept of the log; the writer keeps both ends. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
/** Searched for all tests; of a longer output only the end, for those that failed. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;
const MAX_SEARCHED_CHARS = 256 * 1024;
const MAX_EXCERPT_BYTES = 4 * 1024;
const MAX_LAST_WORDS_CHARS = 200;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
/** Sent by people, supervisors and the kernel when memory is short; a program's own crash has other signals. */
const OUTSIDE_SIGNALS: readonly string[] = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

interface Options {
  run: string;
  /** The whole environment the command gets. */
  environment: Readonly<Record<string, string>>;
  blobs: Blobs;
  /** How far the command is from the rest of the machine; without it, not at all. */
  fence?: { confine: Confine; level: string; at?: string } | undefined;
  /** A command that prints more than this is ended. */
  maxOutputBytes?: number;
  /** Where test runners may write reports; without it none is asked. */
  reports?: ReportPlace | undefined;
  /** `allow`: tests of files that the change touches may go. */
  testChanges?: ProtectSpec["testChanges"];
  /** Whether a file is a test's: what it says of tests is no sign of anything. */
  isTest?: (path: string) => boolean;
  /** Files that only tests name. */
  doubtful?: readonly string[] | undefined;
}

export function commandCheck(spec: CheckSpecOf<"command">, options: Options): Check {
  const { run, environment, blobs, fence, maxOutputBytes } = options;
  const env = { ...environment, [RUN_TAG]: run };
  const ask = askingRunners(options.reports);

  async function judge(tree: VerifyTree, signal: AbortSignal, about: JudgeAbout): Promise<Verdict> {
    const tail = tailOf(MAX_TAIL_BYTES);
    const log = lazyLog(blobs);
    const { reports } = spec;
    const isTest = options.isTest ?? (() => false);
    let rewritten: string[] = [];
    fault("judge");
    const asked = ask({ environment, tree: tree.path, reports, shellName: SHELL_NAME });
    try {
      const ended = runProcess({
        command: SHELL,
        args: asked.shellWords(spec.command),
        cwd: tree.path,
        confine: asked.confine ?? fence?.confine,
        env: { ...env, ...asked.environment },
        timeoutMs: spec.timeoutMs,
        ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
        signal,
        // Without a layer there is nothing to compare with.
        onWritten: async (written) => {
          if (written !== tree.path) rewritten = await rewrittenTests(written, { tree: tree.path, isTest });
        },
        onOutput(chunk) {
          tail.write(chunk);
          log.write(chunk);
        },
      });
      const [record, kept] = await Promise.all([ended, ended.then(log.end, log.end)]);
      const places = { roots: rootsOf(tree.path, fence?.at) };
      const isWhole = record.outputBytes <= MAX_TAIL_BYTES;
      const output = isWhole ? tail.text() : tail.text().slice(-MAX_SEARCHED_CHARS);
      fault("judge");
      const texts = await asked.read();
      const written = merged(texts.map((text) => writtenReport(text, places)).filter((one) => one !== undefined));
      const told = written ?? (isWhole ? printedReport(output, places) : undefined);
      const left = saysNoTests(linesOf(output)) ? [] : leftEarly(texts);
      const isBroken = record.exitCode !== 0 && left.length > 0;
      const report = isBroken
        ? merged([...(told === undefined ? [] : [told]), reportOf(left.map(asBroken), places)])
        : told;
      const evidence: Evidence = {
        tree: tree.tree,
        command: spec.command,
        exitCode: record.exitCode,
        signal: record.signal,
        durationMs: record.durationMs,
        log: kept?.hash ?? null,
        logBytes: kept?.bytes ?? 0,
        isolation: fence === undefined ? tree.isolation : `${tree.isolation} at the workspace's path, ${fence.level}`,
        suspicions: rewritten.map((path) => `${path} was rewritten while the tests ran`).filter(isNew(about)),
        tests: report === undefined ? null : await keepTests(report, blobs),
        ...((await isOneRunner(spec.command, tree.path)) ? { alone: true } : {}),
      };
      const verdict = verdictOf(record, { evidence, output, timeoutMs: spec.timeoutMs, report, places, about });
      if (record.timedOut !== null) return verdict;
      const ranNone = verdict.is === "pass" && isNone(report, { output, places });
      const sources = testSources({ root: tree.path, change: about.change, goModule: await goModuleOf(tree.path) });
      const compared = await withBaseline(verdict, { about, output, tree, ranNone, left, sources });
      const skippedBy = report?.skippedBy ?? new Map<string, string>();
      return await suspected(
        await withSkips(compared, { about, tree, sources, skippedBy, isChosen: isChosen(texts, output) }),
        { about, tree },
      );
    } finally {
      await asked.close();
    }
  }

  /** A pass of product code that speaks of its tests. */
  async function suspected(verdict: Verdict, { about, tree }: Pick<Judged, "about" | "tree">): Promise<Verdict> {
    const { change } = about;
    if (verdict.is !== "pass" || !isWork(tree, change)) return verdict;
    const suspicions = await telltalesOf(change, { path: tree.path, isTest: options.isTest });
    if (about.baseline?.is === "fail") suspicions.push(...besideProduct(await change.files(), options.doubtful));
    const { evidence } = verdict;
    return { ...verdict, evidence: { ...evidence, suspicions: [...evidence.suspicions, ...suspicions] } };
  }

  /** Is anything skipped that the base did not show so? Asked of the change alone. */
  async function withSkips(
    verdict: Verdict,
    { about, tree, sources, ...told }: Pick<Judged, "about" | "tree" | "sources"> & Told,
  ): Promise<Verdict> {
    const { baseline: before } = about;
    if ((verdict.is !== "pass" && verdict.is !== "fail") || before === undefined || !("evidence" in before))
      return verdict;
    const [base, now] = await Promise.all(
      [before.evidence.tests, verdict.evidence.tests].map((one) => statusesOf(one, blobs)),
    );
    if (now === undefined) return verdict;
    const speaksOfSkips = async (): Promise<boolean> => await anySkips(tree.path, { isTest: options.isTest, sources });
    return await withAddedSkips(verdict, { baseline: base ?? new Map(), now, sources, speaksOfSkips, ...told });
  }

  /** Is everything that ran on the base still in it? Asked of a red one too: an old failure must not hide what is gone. */
  async function withBaseline(
    verdict: Verdict,
    { about, output, tree, ranNone, left, sources }: Judged,
  ): Promise<Verdict> {
    fault("judge");
    const isRed = verdict.is === "fail";
    if (verdict.is !== "pass" && !isRed) return verdict;
    const { baseline: before, change } = about;
    const known = before !== undefined && "evidence" in before ? before.evidence.tests : undefined;
    if (known === undefined || known === null || (isRed && (verdict.evidence.tests ?? null) === null))
      return !isRed && ranNone && isWork(tree, change) ? unverifiable(RAN_NONE) : verdict;
    // Both as they are kept: what is masked there is masked in both.
    const [baseline, now] = await Promise.all([known, verdict.evidence.tests].map((one) => statusesOf(one, blobs)));
    if (baseline === undefined)
      return isRed ? verdict : unverifiable("the tests that the base ran cannot be read any more");
    const touched = options.testChanges === "allow" ? await change.files() : [];
    const made = now === undefined ? undefined : await madeNames(onOneSide(baseline, now), sources);
    const goModule = await goModuleOf(tree.path);
    const { failures, exempt } = missingTests({ baseline, now, left, touched, goModule, made });
    const evidence = exempt.length === 0 ? verdict.evidence : { ...verdict.evidence, testsChanged: exempt };
    const [first, ...rest] = failures;
    if (first === undefined) {
      const isEmpty = !isRed && ranNone && exempt.length === 0 && isWork(tree, change);
      return isEmpty ? unverifiable(RAN_NONE) : { ...verdict, evidence };
    }
    const head = `${isRed ? "Besides," : "The command ended well, but"} ${failures.length} of ${counted(baseline.size, "test")} of the base did not run.`;
    const excerpt = `${head}\n${endOf(plain(output), MAX_EXCERPT_BYTES - head.length - 1)}`;
    return isRed
      ? { ...verdict, evidence, failures: [...verdict.failures, first, ...rest], excerpt }
      : { is: "fail", evidence, failures: [first, ...rest], excerpt };
  }

  return {
    name: spec.name,
    required: spec.required,
    cost: "slow",
    judge: (tree, signal, about) =>
      judge(tree, signal, about).catch((error: unknown) => unverifiable(`broke: ${messageOf(error)}`)),
  };
}

/** Folders that mean the tree in what is printed: its own, by its real name too, and where the fence shows it. */
function rootsOf(path: string, at: string | undefined): string[] {
  let real = path;
  try {
    real = realpathSync(path);
  } catch {
    // Then the command could not start either.
  }
  return [...new Set([path, real, ...(at === undefined ? [] : [at])])];
}

/** One runner of a command may write that it had none while another prints what it ran. */
function isNone(report: TestReport | undefined, { output, places }: { output: string; places: Places }): boolean {
  if (report === undefined) return saysNoTests(linesOf(output));
  return report.tests.size === 0 && (printedReport(output, places)?.tests.size ?? 0) === 0;
}

/** What a check does on the base as well is its own way. */
const isNew =
  ({ baseline }: JudgeAbout) =>
  (suspicion: string): boolean =>
    baseline === undefined || !("evidence" in baseline) || !baseline.evidence.suspicions.includes(suspicion);

const RAN_NONE = "the runner ran no test at all";

interface Told extends Pick<TestReport, "skippedBy"> {
  isChosen: boolean;
}

interface Judged {
  about: JudgeAbout;
  output: string;
  tree: VerifyTree;
  ranNone: boolean;
  /** Runners that ended without their report. */
  left: readonly string[];
  sources: TestSources;
}

/** The base may well have no tests yet, alone or with the change's product code. */
const isWork = ({ tree }: VerifyTree, change: JudgeAbout["change"]): boolean =>
  tree === change.tree && tree !== change.base;

const MAX_GO_MOD_CHARS = 64 * 1024;

async function goModuleOf(path: string): Promise<string | undefined> {
  const text = await readFile(join(path, "go.mod"), "utf8").catch(() => "");
  return /^module\s+"?([^\s"]+)/m.exec(text.slice(0, MAX_GO_MOD_CHARS))?.[1];
}

async function keepTests(report: TestReport, blobs: Blobs): Promise<NonNullable<Evidence["tests"]>> {
  // A test of the same name says more than that it holds none.
  const { hash } = await blobs.put(JSON.stringify(Object.fromEntries([...report.units, ...report.tests])));
  const broken = [...report.units].filter(([id, is]) => is === "broken" && !isCrate(id)).length;
  return { ids: hash, ...countsOf(report), ...(broken === 0 ? {} : { broken }) };
}

async function statusesOf(tests: Evidence["tests"], blobs: Blobs): Promise<TestStatuses | undefined> {
  const kept = tests === null || tests === undefined ? undefined : await blobs.get(tests.ids);
  return kept === undefined ? undefined : parseStatuses(Buffer.from(kept).toString());
}

/** Made with the first byte: a silent command costs no file. */
function lazyLog(blobs: Blobs) {
  let writer: BlobWriter | undefined;
  return {
    write(chunk: Uint8Array) {
      writer ??= blobs.writer(MAX_LOG_BYTES);
      writer.write(chunk);
    },
    end: async () => writer?.end(),
  };
}

interface Ended {
  evidence: Evidence;
  output: string;
  timeoutMs: number;
  report: TestReport | undefined;
  places: Places;
  about: Pick<JudgeAbout, "baseline" | "isBase">;
}

/** Pure: what a command's end means. */
function verdictOf(record: ProcessRecord, ended: Ended): Verdict {
  const { evidence, output, report, places } = ended;
  if (record.startError?.code === "FENCE") return unverifiable(`the fence could not start it${lastWords(output)}`);
  if (record.startError !== null) return unverifiable(`could not start: ${record.startError.message}`);
  if (record.aborted) return unverifiable("aborted");
  if (record.timedOut !== null) return timedOut(ended);
  if (record.signal !== null && record.limits.length === 0 && OUTSIDE_SIGNALS.includes(record.signal)) {
    return unverifiable(`ended from outside by ${record.signal}`);
  }
  // A pipe may have lost the runner's own exit code; its report says what it was.
  const isRed = (evidence.tests?.failed ?? 0) > 0 || (report?.failures.length ?? 0) > 0;
  if (record.exitCode === 0 && !isRed) return { is: "pass", evidence };
  // It says nothing about the work: with more room it might have passed.
  if (record.limits.length > 0) return unverifiable(record.limits.join(", "));
  const text = plain(output);
  if (record.exitCode === NOT_FOUND || record.exitCode === NOT_EXECUTABLE) {
    const program = missingProgram(text, { shellName: SHELL_NAME });
    if (program !== undefined) return unverifiable(`command not found: ${program}`);
  }
  const [first, ...rest] = report?.failures ?? [];
  const failures: [Failure, ...Failure[]] =
    first === undefined ? fingerprintsOf(text, places) : [first, ...rest, ...beyondReport(ended, text)];
  return {
    is: "fail",
    evidence,
    failures: [...failures, ...otherExit(ended)],
    excerpt: endOf(text, MAX_EXCERPT_BYTES),
  };
}

/** On most trees the machine may have been slow; the base is asked again, and what hangs as it did is no better. */
function timedOut({ evidence, output, timeoutMs, report, about: { baseline, isBase = false } }: Ended): Verdict {
  if (!isBase && !hasHung(baseline)) return unverifiable(`no answer within ${timeoutMs} ms${lastWords(output)}`);
  const message = `it did not end within ${timeoutMs / 1_000} s${lastWords(output)}`;
  const told = (report?.failures ?? []).filter(({ fingerprint }) => !isRunner(fingerprint.replace(/^test:/, "")));
  const failures: [Failure, ...Failure[]] = [{ fingerprint: HUNG, message }, ...told];
  return { is: "fail", evidence, failures, excerpt: endOf(plain(output), MAX_EXCERPT_BYTES) };
}

/** src/loop/repeat.ts knows it by this. */
const HUNG = "timeout";
const hasHung = (verdict: Verdict | undefined): boolean =>
  verdict?.is === "fail" && verdict.failures.some(({ fingerprint }) => fingerprint === HUNG);

/** A command may go on after its runner: what compilers and linters say must not hide behind a test that failed. */
function beyondReport({ report, places }: Ended, text: string): Failure[] {
  const known = new Set(report?.failures.map(({ fingerprint }) => fingerprint));
  const found = diagnosticsIn(text, places, { warnings: false });
  // That something was not built is one name for all that may be wrong with it.
  const isNameOnly = report?.tests.size === 0 && report.failures.every(({ file }) => file === undefined);
  const all = found.length === 0 && isNameOnly ? fingerprintsOf(text, places) : found;
  return all.filter(({ fingerprint }) => !known.has(fingerprint));
}

/** Red before and red now, but not the same way: something besides the known failures may be wrong. */
function otherExit({ evidence, about: { baseline }, report }: Ended): Failure[] {
  const { exitCode, tests } = evidence;
  if (baseline?.is !== "fail" || hasHung(baseline) || exitCode === null || exitCode === 0) return [];
  // Some runners exit with the number of tests that failed.
  if ([baseline.evidence.exitCode, tests?.failed, report?.failures.length].includes(exitCode)) return [];
  const message = `exit code ${exitCode}; on the base it was ${baseline.evidence.exitCode ?? "none"}`;
  return [{ fingerprint: `exit:${exitCode}`, message }];
}

/** Where it hung, for the reader of the reason. */
function lastWords(output: string): string {
  const last = endOf(plain(output), MAX_EXCERPT_BYTES).split("\n").at(-1)?.trim() ?? "";
  return last === "" ? ", nothing was printed" : `, last output: ${last.slice(0, MAX_LAST_WORDS_CHARS)}`;
}

const unverifiable = (reason: string): Verdict => ({ is: "unverifiable", reason });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
