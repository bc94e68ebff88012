import { expect, it } from "vitest";
import { missingTests, parseStatuses, type TestStatuses } from "./tests-missing.ts";

const of = (statuses: Record<string, "pass" | "fail" | "skip">): TestStatuses => new Map(Object.entries(statuses));
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
      now: of({ "a.test.ts > one": "pass", "a.test.ts > two": "pass", "a.test.ts > red": "pass", "c > new": "pass" }),
    }),
  ).toEqual([]);
  expect(names({ baseline, now: of({ "a.test.ts > one": "skip" }) })).toEqual([
    "tests-missing:a.test.ts > one",
    "tests-missing:a.test.ts > two",
    "tests-missing:a.test.ts > red",
  ]);
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

it("reads what it kept, and nothing else", () => {
  expect(parseStatuses('{"a":"pass"}')).toEqual(of({ a: "pass" }));
  expect(parseStatuses("{")).toBeUndefined();
});
