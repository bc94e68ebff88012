import { expect, it } from "vitest";
import { missingTests, parseStatuses, type TestStatuses } from "./tests-missing.ts";

const of = (statuses: Record<string, "pass" | "fail" | "skip" | "broken" | "none">): TestStatuses =>
  new Map(Object.entries(statuses));
const names = (compared: Parameters<typeof missingTests>[0]) =>
  missingTests(compared).failures.map(({ fingerprint }) => fingerprint);

const baseline = of({
  "a.test.ts > one": "pass",
  "a.test.ts > two": "skip",
  "a.test.ts > red": "fail",
  "b.test.ts": "fail",
});

it("misses what ran on the base and is gone, or is skipped now", () => {
  expect(names({ baseline, now: baseline })).toEqual([]);
  expect(
    names({
      baseline,
      now: of({
        "a.test.ts > one": "pass",
        "a.test.ts > two": "pass",
        "a.test.ts > red": "pass",
        "b.test.ts > new": "pass",
      }),
    }),
  ).toEqual([]);
  expect(names({ baseline, now: of({ "a.test.ts > one": "skip" }) })).toEqual([
    "tests-missing:a.test.ts > one",
    "tests-missing:a.test.ts > two",
    "tests-missing:a.test.ts > red",
    "tests-missing:b.test.ts",
  ]);
});

it("misses a test that failed on the base and is skipped or gone, with or without a file in its name", () => {
  const before = of({ "a > red": "fail", "m.Sums.test_red": "fail", b: "fail", "a > later": "skip" });
  expect(
    names({ baseline: before, now: of({ "a > red": "skip", "m.Sums.test_red": "skip", "a > later": "skip" }) }),
  ).toEqual(["tests-missing:a > red", "tests-missing:m.Sums.test_red", "tests-missing:b"]);
});

it("wants a test that passes of every file, package and crate that could not be loaded on the base", () => {
  const before = of({
    "a.test.ts": "broken",
    "t/test_b.py": "broken",
    "example.com/m/c": "broken",
    "crate sums": "broken",
    "d.spec.js > sums > hook": "broken",
    "unittest.loader._FailedTest.test_e": "fail",
    "example.com/m/plain": "broken",
  });
  const good = {
    "a.test.ts > one": "pass",
    "t/test_b.py::test_x": "pass",
    "example.com/m/c > TestC": "pass",
    "src/lib.rs > sums > tests::adds": "pass",
    "d.spec.js > sums > adds": "pass",
    "test_e.Sums.test_adds": "pass",
    "example.com/m/plain": "none",
  } as const;
  expect(names({ baseline: before, now: of(good) })).toEqual([]);
  const skipped = Object.fromEntries(Object.keys(good).map((id) => [id, "skip" as const]));
  expect(names({ baseline: before, now: of({ ...skipped, "z.test.ts > z": "pass" }) })).toEqual(
    ["a.test.ts", "t/test_b.py", "example.com/m/c", "crate sums", "d.spec.js", "test_e", "example.com/m/plain"].map(
      (unit) => `tests-missing:${unit}`,
    ),
  );
  // Still not loaded is a failure already.
  expect(names({ baseline: of({ "a.test.ts": "broken" }), now: of({ "a.test.ts": "broken" }) })).toEqual([]);
  expect(missingTests({ baseline: of({ "a.test.ts": "broken" }), now: of({}) }).failures[0]?.message).toBe(
    "no test of a.test.ts ran",
  );
  expect(names({ baseline: of({ "a.test.ts": "broken" }), now: undefined })).toEqual(["tests-missing:report"]);
  // It may have been no more than a build.
  expect(names({ baseline: of({ "crate sums": "broken" }), now: undefined })).toEqual([]);
});

it("takes a file that passes as a whole for its tests only where no test has a name", () => {
  const before = of({ "a.test.mjs": "broken" });
  const whole = { "a.test.mjs > a.test.mjs": "pass" } as const;
  expect(names({ baseline: before, now: of(whole) })).toEqual([]);
  expect(names({ baseline: before, now: of({ ...whole, "b.test.mjs > b": "pass" }) })).toEqual([
    "tests-missing:a.test.mjs",
  ]);
});

it("does not list the tests of a file that cannot be loaded now", () => {
  expect(names({ baseline: of({ "a.test.ts > one": "pass" }), now: of({ "a.test.ts": "broken" }) })).toEqual([]);
  const crate = { "src/lib.rs > sums > tests::adds": "pass" } as const;
  expect(names({ baseline: of(crate), now: of({ "crate sums": "broken" }) })).toEqual([]);
  expect(
    names({ baseline: of({ ...crate, "crate sums": "broken" }), now: of({ "crate sums": "broken" }) }),
  ).toHaveLength(1);
});

it("holds numbers against numbers where one of both reports has no names", () => {
  const named = of({ "a > one": "pass", "a > two": "fail", "a > three": "skip" });
  const counted = (n: number) =>
    of(Object.fromEntries(Array.from({ length: n }, (_, at) => [`unnamed test ${at + 1}`, "pass"])));
  expect(names({ baseline: named, now: counted(2) })).toEqual([]);
  expect(names({ baseline: named, now: counted(1) })).toEqual(["tests-missing:count"]);
  expect(names({ baseline: counted(2), now: named })).toEqual([]);
  expect(names({ baseline: counted(3), now: named })).toEqual(["tests-missing:count"]);
  expect(names({ baseline: counted(3), now: counted(2) })).toEqual(["tests-missing:unnamed test 3"]);
});

it("misses the report itself where the base had one", () => {
  expect(names({ baseline, now: undefined })).toEqual(["tests-missing:report"]);
  expect(names({ baseline: of({}), now: undefined })).toEqual([]);
});

it("lets tests of touched files go, and lists them", () => {
  const before = of({
    "test/a.test.ts > one": "pass",
    "tests/test_b.py::test_x": "pass",
    "example.com/m/sum > TestX": "pass",
    "com.acme.SumTest > adds": "pass",
    "test/other.test.ts > two": "pass",
  });
  const touched = ["test/a.test.ts", "tests/test_b.py", "sum/sum_test.go", "src/test/java/com/acme/SumTest.java"].map(
    (path) => ({ path }),
  );
  const { failures, exempt } = missingTests({ baseline: before, now: of({}), touched });
  expect(failures.map(({ fingerprint }) => fingerprint)).toEqual(["tests-missing:test/other.test.ts > two"]);
  expect(exempt).toHaveLength(4);
});

it("lets only the top package's tests go for a test file at the top, and none where the top is not known", () => {
  const before = of({
    "example.com/m > TestA": "pass",
    "example.com/m/sum > TestB": "pass",
    "example.com/m/x/sum > TestC": "pass",
  });
  const gone = (path: string, goModule?: string) =>
    missingTests({ baseline: before, now: of({}), touched: [{ path }], goModule }).exempt;
  expect(gone("new_test.go", "example.com/m")).toEqual(["example.com/m > TestA"]);
  expect(gone("new_test.go")).toEqual([]);
  expect(gone("sum/new_test.go", "example.com/m")).toEqual(["example.com/m/sum > TestB"]);
});

it("lets only a crate's own top tests go for its first file", () => {
  const ids = {
    "src/lib.rs > sums > tests::adds": "pass",
    "src/lib.rs > sums > parser::tests::reads": "pass",
  } as const;
  const gone = (before: TestStatuses) =>
    missingTests({ baseline: before, now: of({}), touched: [{ path: "src/lib.rs" }] }).exempt;
  expect(gone(of(ids))).toEqual(["src/lib.rs > sums > tests::adds"]);
  expect(gone(of({ ...ids, "src/lib.rs > other > tests::adds": "pass" }))).toEqual([]);
});

it("reads what it kept, and nothing else", () => {
  expect(parseStatuses('{"a":"pass"}')).toEqual(of({ a: "pass" }));
  expect(parseStatuses("{")).toBeUndefined();
});
