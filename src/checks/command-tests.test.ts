/** What a command's report of tests makes of its exit code. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { noAbout } from "../../test/support/about.ts";
import { memoryBlobs } from "../../test/support/blobs.ts";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import type { Verdict } from "../events.ts";
import type { Blobs } from "../ports.ts";
import { commandCheck } from "./command.ts";
import { writtenReport } from "./report/written.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const PATH = process.env["PATH"] ?? "/usr/bin:/bin";
const NODE = `"${process.execPath}"`;

interface Case {
  files?: Record<string, string>;
  baseline?: Verdict;
  blobs?: Blobs;
  reports?: string[];
  testChanges?: "undo" | "allow";
  touched?: string[];
  environment?: Record<string, string>;
  folder?: string;
  prepare?: (path: string) => void;
  /** Of the change; else it is the tree that is judged. */
  base?: string;
}

async function judge(command: string, given: Case = {}): Promise<Verdict> {
  const { blobs = memoryBlobs(), folder = tempDir("reports"), reports, baseline, touched = [] } = given;
  const path = tempDir("verify");
  writeFiles(path, given.files ?? {});
  given.prepare?.(path);
  const spec = { name: "test", kind: "command", command, required: true, timeoutMs: 150_000 } as const;
  const check = commandCheck(reports === undefined ? spec : { ...spec, reports }, {
    run: "r-tests",
    environment: { PATH, ...given.environment },
    blobs,
    reports: { folder, at: folder },
    testChanges: given.testChanges ?? "undo",
  });
  const files = async () => touched.map((one) => ({ path: one, status: "M", added: 1, removed: 1 }));
  const about = { ...noAbout, baseline, change: { ...noAbout.change, base: given.base ?? TREE, files } };
  return check.judge(
    { path, tree: TREE, isolation: "copy", release: async () => {} },
    new AbortController().signal,
    about,
  );
}

const tap = (...points: string[]): string =>
  `printf '%s\\n' ${points.map((one) => `'${one}'`).join(" ")} '1..${points.length}'`;
const fingerprints = (verdict: Verdict) =>
  "failures" in verdict ? verdict.failures.map((one) => one.fingerprint) : verdict.is;

it("is red when the report is, whatever the exit code says", async () => {
  const verdict = await judge(`${tap("ok 1 - a", "not ok 2 - b")} | cat`);
  expect(verdict).toMatchObject({ is: "fail", evidence: { exitCode: 0, tests: { passed: 1, failed: 1, skipped: 0 } } });
  expect(fingerprints(verdict)).toEqual(["test:b"]);
});

it("is red for what was printed where every test passed", async () => {
  const verdict = await judge(`${tap("ok 1 - a")}; echo 'src/a.ts(1,2): error TS1: coverage' >&2; exit 1`);
  expect(fingerprints(verdict)).toEqual(["error:src/a.ts TS1 coverage"]);
});

it("says that there are no tests where nothing tells", async () => {
  expect(await judge("echo fine")).toMatchObject({ is: "pass", evidence: { tests: null } });
});

it("fails when tests of the base are gone, skipped or no longer reported", async () => {
  const blobs = memoryBlobs();
  const baseline = await judge(tap("ok 1 - a", "ok 2 - b", "ok 3 - c # SKIP"), { blobs });
  const now = (command: string) => judge(command, { blobs, baseline });
  expect((await now(tap("ok 1 - c", "ok 2 - b", "ok 3 - a", "ok 4 - new"))).is).toBe("pass");
  const gone = await now(tap("ok 1 - a"));
  expect(fingerprints(gone)).toEqual(["tests-missing:b", "tests-missing:c"]);
  expect(gone).toMatchObject({ is: "fail", excerpt: expect.stringContaining("2 of 3 tests of the base did not run") });
  expect(fingerprints(await now(tap("ok 1 - a", "ok 2 - b # SKIP", "ok 3 - c # SKIP")))).toEqual(["tests-missing:b"]);
  expect(fingerprints(await now("true"))).toEqual(["tests-missing:report"]);
  // Red for another reason is told as that.
  expect(fingerprints(await now("exit 1"))).toEqual(["output:none"]);
  expect(await judge("true", { baseline })).toMatchObject({ is: "unverifiable" });
});

it("tells what is gone behind a failure that was there before", async () => {
  const blobs = memoryBlobs();
  const baseline = await judge(`${tap("ok 1 - a", "not ok 2 - old", "ok 3 - c")}; exit 1`, { blobs });
  const verdict = await judge(`${tap("ok 1 - a", "not ok 2 - old")}; exit 1`, { blobs, baseline });
  expect(fingerprints(verdict)).toEqual(["test:old", "tests-missing:c"]);
  expect(verdict).toMatchObject({ excerpt: expect.stringContaining("1 of 3 tests of the base did not run") });
});

it("tells what compilers say, and another exit code, behind a test that failed before", async () => {
  const blobs = memoryBlobs();
  const old = tap("ok 1 - a", "not ok 2 - old", "not ok 3 - older", "not ok 4 - oldest");
  const baseline = await judge(`${old}; exit 1`, { blobs });
  const now = (command: string) => judge(`${old}; ${command}`, { blobs, baseline }).then(fingerprints);
  const known = ["test:old", "test:older", "test:oldest"];
  expect(await now("exit 1")).toEqual(known);
  expect(await now("echo 'src/a.ts(1,2): error TS1: wrong'; exit 1")).toEqual([...known, "error:src/a.ts TS1 wrong"]);
  expect(await now("echo 'a.c:1:2: warning: unused'; exit 1")).toEqual(known);
  expect(await now("exit 2")).toEqual([...known, "exit:2"]);
  // The number of tests that failed.
  expect(await now("exit 3")).toEqual(known);
});

it("tells one reason why nothing is built from another", async () => {
  const notBuilt = 'echo "error: could not compile \\`sums\\` (lib test) due to 1 previous error"; exit 101';
  const why = async (words: string) => fingerprints(await judge(`echo '${words}'; ${notBuilt}`));
  const [first, second] = [await why("error: linking with cc failed"), await why("error: no memory")];
  expect([first[0], second[0]]).toEqual(["test:crate sums", "test:crate sums"]);
  expect(first).not.toEqual(second);
});

it("cannot judge by a runner that ran nothing, unless it is the base that has no tests yet", async () => {
  const command = `${NODE} --test`;
  const given: Case = { files: { "test/readme.txt": "" }, base: "1".repeat(40) };
  expect(await judge(command, given)).toEqual({ is: "unverifiable", reason: "the runner ran no test at all" });
  expect(await judge("echo 'Ran 0 tests in 0.000s'", given)).toMatchObject({ is: "unverifiable" });
  expect(await judge(command, { files: { "test/readme.txt": "" } })).toMatchObject({ is: "pass" });
  expect(await judge(`${command} && ${tap("ok 1 - a")}`, given)).toMatchObject({ is: "pass" });
});

it("wants tests of a file that could not be loaded on the base, not only its good end", async () => {
  const blobs = memoryBlobs();
  const test = 'import { test } from "node:test"; import "./product.mjs"; test("one", () => {});';
  const files = (product: Record<string, string>) => ({ "a.test.mjs": test, ...product });
  const baseline = await judge(`${NODE} --test`, { blobs, files: files({}) });
  expect(fingerprints(baseline)).toEqual(["test:a.test.mjs"]);
  const now = (product: string) =>
    judge(`${NODE} --test`, { blobs, baseline, files: files({ "product.mjs": product }) });
  expect(fingerprints(await now("process.exit(0);"))).toEqual(["tests-missing:a.test.mjs"]);
  expect((await now("")).is).toBe("pass");
});

it("lets tests of touched files change where a person allows it, and lists them", async () => {
  const blobs = memoryBlobs();
  const test = (name: string) => ({ "a.test.mjs": `import { test } from "node:test"; test("${name}", () => {});` });
  const baseline = await judge(`${NODE} --test`, { blobs, files: test("old") });
  const given: Case = { blobs, baseline, files: test("new"), touched: ["a.test.mjs"] };
  expect(fingerprints(await judge(`${NODE} --test`, given))).toEqual(["tests-missing:a.test.mjs > old"]);
  expect(await judge(`${NODE} --test`, { ...given, testChanges: "allow" })).toMatchObject({
    is: "pass",
    evidence: { testsChanged: ["a.test.mjs > old"] },
  });
});

it("sees that product code ended the runner early", async () => {
  const blobs = memoryBlobs();
  const files = (product: string) => ({
    "product.mjs": product,
    "a.test.mjs":
      'import { test } from "node:test"; import "./product.mjs"; test("one", () => {}); test("two", () => {});',
  });
  const baseline = await judge(`${NODE} --test`, { blobs, files: files("") });
  const verdict = await judge(`${NODE} --test`, { blobs, baseline, files: files("process.exit(0);") });
  expect(fingerprints(verdict)).toEqual(["tests-missing:a.test.mjs > one", "tests-missing:a.test.mjs > two"]);
});

it("takes reports that the command wrote into the tree, and none that lay there before", async () => {
  const report = (name: string) => `<testsuite><testcase classname="A" name="${name}"/></testsuite>`;
  const files = { "out/old.xml": report("old"), "new.xml": report("new") };
  const command = "sleep 0.05; mkdir -p out/deep && cp new.xml out/deep/r.xml; ln -s /etc/passwd out/link.xml; exit 0";
  const blobs = memoryBlobs();
  const verdict = await judge(command, { files, blobs, reports: ["out/**/*.xml"] });
  if (verdict.is !== "pass") throw new Error(JSON.stringify(verdict));
  const ids = await blobs.get(verdict.evidence.tests?.ids ?? "");
  expect(Buffer.from(ids ?? []).toString()).toBe('{"A > new":"pass"}');
  expect(await judge("exit 3", { files, reports: ["out/**/*.xml"] })).toMatchObject({
    evidence: { exitCode: 3, tests: null },
  });
});

it("asks with what a person set kept, tells nothing to what the runner starts, and leaves no report behind", async () => {
  const folder = tempDir("reports");
  const inner = `import { test } from "node:test"; import { execFileSync } from "node:child_process"; import { equal } from "node:assert";
    test("outer", () => {
      equal(process.env.NODE_OPTIONS, "--no-warnings");
      try { execFileSync(process.execPath, ["--test", "fixture.cjs"], { env: { ...process.env, NODE_TEST_CONTEXT: undefined } }); } catch {}
    });`;
  const fixture = 'require("node:test").test("inner fails on purpose", () => { throw new Error("x"); });';
  const verdict = await judge(`${NODE} --test outer.test.mjs`, {
    folder,
    files: { "outer.test.mjs": inner, "fixture.cjs": fixture },
    environment: { NODE_OPTIONS: "--no-warnings" },
  });
  expect(verdict).toMatchObject({ is: "pass", evidence: { tests: { passed: 1, failed: 0 } } });
  const { readdirSync } = await import("node:fs");
  const left = readdirSync(folder).map((name) => readdirSync(join(folder, name, "out")));
  expect(left.flat()).toEqual([]);
});

it("does not read reports through links, and takes a folder that was made of one for none", async () => {
  const forged =
    '{"testResults":[{"name":"x","assertionResults":[{"title":"forged","status":"passed","ancestorTitles":[]}]}]}';
  const script = `
    const { dirname, join } = require("path");
    const out = join(dirname(process.env.NODE_OPTIONS.split("=")[1]), "out");
    require("fs").symlinkSync(join(process.cwd(), "forged.json"), join(out, "x.json"));
    require("child_process").execFileSync("mkfifo", [join(out, "pipe.json")]);
    require("fs").mkdirSync(join(out, "folder.json"));`;
  const verdict = await judge(`${NODE} forge.cjs`, { files: { "forged.json": forged, "forge.cjs": script } });
  expect(verdict).toMatchObject({ is: "pass", evidence: { tests: null } });
});

it("takes a report of 100 MB for none, and one of hostile XML in little time", async () => {
  const out =
    'const out = require("path").join(require("path").dirname(process.env.NODE_OPTIONS.split("=")[1]), "out");';
  const files = {
    "large.cjs": `${out} require("fs").writeFileSync(out + "/a.xml", "<testsuite>" + " ".repeat(100 << 20) + "</testsuite>");`,
  };
  expect(await judge(`${NODE} large.cjs`, { files })).toMatchObject({ is: "pass", evidence: { tests: null } });
  const units = [
    "<!a>",
    "<a",
    "a",
    "=",
    " a=",
    '<a b="',
    "<![CDATA[",
    "<!--",
    "&amp;",
    "&#",
    "<testcase>",
    "</testcase>",
    "]]>",
    "<?",
  ];
  for (const unit of units) {
    const text = `<testsuite ${unit.startsWith("<") ? ">" : ""}${unit.repeat((2 << 20) / unit.length)}`;
    expect(writtenReport(text, { roots: [] })).toBeUndefined();
  }
});

it("leaves a vitest whose reporters cannot be told as it is", async () => {
  const modules = join(import.meta.dirname, "../../node_modules");
  const files = {
    "a.test.js": 'import { it } from "vitest"; it("works", () => {});',
    "vitest.config.mjs":
      'const own = { onTestRunEnd() { console.log("own reporter"); } };\nexport default { test: { reporters: [own] } };\n',
  };
  const blobs = memoryBlobs();
  const verdict = await judge(`${join(modules, ".bin/vitest")} run`, {
    files,
    blobs,
    prepare: (path) => symlinkSync(modules, join(path, "node_modules")),
  });
  if (verdict.is !== "pass") throw new Error(JSON.stringify(verdict));
  expect(Buffer.from((await blobs.get(verdict.evidence.log ?? "")) ?? []).toString()).toContain("own reporter");
  expect(verdict.evidence.tests).toBeNull();
});
