/**
 * Tests that are skipped, or expected to fail, and were not seen so on the base: often because it could not load them yet.
 * Who wrote the test may have said so in its text; code under test must not.
 */
import type { Failure, Verdict } from "../events.ts";
import { UNNAMED } from "./report/counts.ts";
import type { TestSource, TestSources } from "./test-sources.ts";
import type { TestText } from "./test-text.ts";
import type { TestStatuses } from "./tests-missing.ts";

const MAX_NAMED = 20;
const MAX_KEPT = 200;

type Judged = Extract<Verdict, { is: "pass" | "fail" }>;

interface About {
  baseline: TestStatuses;
  now: TestStatuses;
  /** By id, the file that skipped it. */
  skippedBy: ReadonlyMap<string, string>;
  sources: TestSources;
  /** The command runs only some tests, by its own choice. */
  isChosen: boolean;
  /** Whether any test file of the base speaks of skips: asked where tests have no names. */
  speaksOfSkips: () => Promise<boolean>;
}

/**
 * Red where a file that the change touches did it; a suspicion where nothing in the test's text says so, and where a test
 * of the text is not there at all.
 */
export async function withAddedSkips(verdict: Judged, about: About): Promise<Judged> {
  const { baseline, now, skippedBy, sources } = about;
  const added = [...now].filter(([id, is]) => is === "skip" && baseline.get(id) === undefined).map(([id]) => id);
  const named = added.filter((id) => !id.startsWith(UNNAMED));
  const failures: Failure[] = [];
  const unsaid: string[] = [];
  for (const id of named) {
    const source = await sources.of(id);
    if (source === undefined) continue;
    const by = skippedBy.get(id);
    if (by !== undefined && by !== source.path && isInside(by)) {
      if (!(await sources.isUntouched(by)))
        failures.push({ fingerprint: `tests-missing:${id}`, message: `${id} is skipped by ${by}: it has to run` });
    } else if (!(await isSaid(source, by))) unsaid.push(id);
  }
  const unrun = about.isChosen ? [] : await unrunTests(about);
  const uncounted = skips(now) > skips(baseline) && added.length > named.length && !(await about.speaksOfSkips());
  const suspicions = [
    ...(unsaid.length === 0 ? [] : [`skipped while they ran, and nothing in their text says so: ${listed(unsaid)}`]),
    ...(unrun.length === 0
      ? []
      : [`they stand in files that the base could not load, and do not run: ${listed(unrun)}`]),
    ...(uncounted
      ? [`${skips(now) - skips(baseline)} tests more than on the base are skipped, and no test file says so`]
      : []),
  ];
  return told(verdict, { failures, suspicions, added: named });
}

function told(
  verdict: Judged,
  { failures: [first, ...rest], suspicions, added }: { failures: Failure[]; suspicions: string[]; added: string[] },
): Judged {
  const evidence = {
    ...verdict.evidence,
    suspicions: [...verdict.evidence.suspicions, ...suspicions],
    ...(added.length === 0 ? {} : { skips: added.slice(0, MAX_KEPT) }),
  };
  if (first === undefined) return { ...verdict, evidence };
  if (verdict.is === "fail") return { ...verdict, evidence, failures: [...verdict.failures, first, ...rest] };
  const excerpt = [first, ...rest].map(({ message }) => message).join("\n");
  return { is: "fail", evidence, failures: [first, ...rest], excerpt: excerpt.slice(0, MAX_EXCERPT_CHARS) };
}

/** Tests that stand in a file of which the base ran none, and that are not run beside others of it. */
async function unrunTests({ baseline, now, sources }: Pick<About, "baseline" | "now" | "sources">): Promise<string[]> {
  const fileOf = async (id: string): Promise<string | undefined> => (await sources.of(id))?.path;
  const before = new Set(await Promise.all([...baseline].filter(([, is]) => isTest(is)).map(([id]) => fileOf(id))));
  const files = new Map<string, { text: TestText; names: Set<string> }>();
  for (const [id, status] of now) {
    const source = isTest(status) ? await sources.of(id) : undefined;
    if (source === undefined || before.has(source.path)) continue;
    const file = files.get(source.path) ?? { text: source.text, names: new Set<string>() };
    for (const name of source.names) file.names.add(name.replace(/ \(\d+\)$/, ""));
    files.set(source.path, file);
  }
  return [...files].flatMap(([path, { text, names }]) =>
    text.always.filter((name) => !names.has(name)).map((name) => `${name} (${path})`),
  );
}

const isTest = (status: string): boolean => ["pass", "fail", "skip"].includes(status);

const MAX_EXCERPT_CHARS = 2_000;

/** In the test, or what is around it; of a file of settings for a whole folder only what pytest says is the test's own mark. */
async function isSaid(source: TestSource, by: string | undefined): Promise<boolean> {
  if (source.text.mayBeSkipped(source.names)) return true;
  const others = await source.around();
  return others.some(({ path, text }) => text.speaksOfSkips && (by === source.path || !path.endsWith("conftest.py")));
}

/** Of the tree, and no part of what is installed. */
const isInside = (path: string): boolean => !path.startsWith("/") && !/(?:^|\/)(?:site|dist)-packages\//.test(path);

const skips = (statuses: TestStatuses): number => [...statuses.values()].filter((one) => one === "skip").length;

function listed(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
  return `${ids.slice(0, MAX_NAMED).join(", ")}${more}`;
}
