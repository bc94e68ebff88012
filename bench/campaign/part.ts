/** What the parts of the campaign share: how a part is described, and running the suite's own tests with other counts. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isWithin } from "../../src/platform/fence/places.ts";

export interface PartResult {
  /** Empty when every promise was kept. */
  wrongs: unknown[];
  [figure: string]: unknown;
}

export interface Part {
  name: string;
  about: string;
  /** Promises of docs/promises.md. */
  shows: string;
  /** With their full counts; each can be given as `name=value`. */
  counts: Readonly<Record<string, number>>;
  run(counts: Readonly<Record<string, number>>): Promise<PartResult>;
}

const ROOT = join(import.meta.dirname, "../..");

/** Tests of the suite, in a process of their own, with counts in the environment; their figures and failures. */
export async function runTests(files: readonly string[], env: Readonly<Record<string, string>>): Promise<PartResult> {
  const dir = mkdtempSync(join(tmpdir(), "pawl-campaign-"));
  const [figures, report] = [join(dir, "figures"), join(dir, "report")];
  const vitest = join(ROOT, "node_modules/.bin/vitest");
  // Long loops inside one test: the campaign waits for as long as they take.
  const args = ["run", ...files, "--testTimeout=36000000", "--hookTimeout=36000000", "--reporter=default"];
  try {
    const code = await ended(
      spawn(vitest, [...args, "--reporter=json", `--outputFile.json=${report}`], {
        cwd: ROOT,
        env: { ...process.env, PAWL_FIGURES: figures, ...env },
        stdio: ["ignore", 2, 2],
      }),
    );
    const { failed, passed, ran } = counted(report);
    // Tests that were renamed, or skipped to the last one, have shown nothing.
    const missing = files.filter((file) => !ran.some((name) => isWithin(name, join(ROOT, file))));
    const wrongs = [...failed, ...missing.map((file) => `no test of ${file} was run`)];
    if (passed === 0) wrongs.push("no test passed");
    return { passed, figures: lines(figures), wrongs: code === 0 || wrongs.length > 0 ? wrongs : [`exit ${code}`] };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
}

interface Report {
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

const MAX_MESSAGE_CHARS = 2_000;

interface Counted {
  passed: number;
  failed: string[];
  /** Files of which a test was not skipped. */
  ran: string[];
}

function counted(file: string): Counted {
  const { testResults } = JSON.parse(text(file) || '{"testResults":[]}') as Report;
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join("; ").slice(0, MAX_MESSAGE_CHARS)}`);
  const unloaded = testResults.filter(
    ({ assertionResults, message }) => assertionResults.length === 0 && message !== "",
  );
  const isRun = ({ status }: { status: string }): boolean => status === "passed" || status === "failed";
  return {
    ran: testResults.filter(({ assertionResults }) => assertionResults.some(isRun)).map(({ name }) => name),
    passed: all.filter(({ status }) => status === "passed").length,
    failed: [...failed, ...unloaded.map(({ name, message }) => `${name}: ${message.slice(0, MAX_MESSAGE_CHARS)}`)],
  };
}

function lines(file: string): unknown[] {
  return text(file)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
