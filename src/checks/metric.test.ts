import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkContract } from "../../test/contracts/check.ts";
import { noAbout } from "../../test/support/about.ts";
import { memoryBlobs } from "../../test/support/blobs.ts";
import { treeOf } from "../../test/support/verify-tree.ts";
import type { Verdict } from "../events.ts";
import type { CheckSpecOf } from "../spec.ts";
import { metricCheck } from "./metric.ts";
import { stepsOf } from "../platform/json-path.ts";
import { numbersIn } from "./metric/numbers.ts";

const PATH = process.env["PATH"] ?? "/usr/bin:/bin";
type Given = Partial<CheckSpecOf<"metric">>;

const checkOf = (command: string, given: Given = {}, run = "r-metric") =>
  metricCheck(
    {
      name: "speed",
      kind: "metric",
      command,
      required: true,
      timeoutMs: 120_000,
      value: { line: "ops/s" },
      min: 1000,
      ...given,
    },
    { run, environment: { PATH }, blobs: memoryBlobs() },
  );

checkContract("a metric", (situation) => {
  const command = {
    green: "echo 'ops/s: 1200'",
    red: "echo 'ops/s: 900'",
    hanging: "echo 'ops/s: 1200'; sleep 60",
    impossible: "echo 'fast enough'",
  }[situation];
  const run = `r-${randomUUID()}`;
  return { check: checkOf(command, {}, run), tree: treeOf(), run };
});

const judge = (command: string, given?: Given): Promise<Verdict> =>
  checkOf(command, given).judge(treeOf(), new AbortController().signal, noAbout);

describe("a metric", () => {
  it("has the number in its evidence, and says what range was missed", async () => {
    expect(await judge("echo 'ops/s: 1500.5'")).toMatchObject({ is: "pass", evidence: { value: 1500.5 } });
    expect(await judge("echo 'ops/s = 12'", { max: 5000 })).toMatchObject({
      is: "fail",
      evidence: { value: 12 },
      failures: [{ fingerprint: "metric:speed", message: "ops/s is 12, and has to be 1000 to 5000", actual: "12" }],
    });
  });

  it("only measures without a range", async () => {
    const given = { value: { json: "a.b[1].c" }, min: undefined } as unknown as Given;
    expect(await judge(`echo noise; echo '{"a":{"b":[0,{"c":7}]}}'`, given)).toMatchObject({
      is: "pass",
      evidence: { value: 7 },
    });
  });

  it("takes the worst of several numbers, so that code which prints one of its own gains nothing", async () => {
    expect(await judge("echo 'ops/s: 100'; echo 'ops/s: 99999'")).toMatchObject({
      is: "fail",
      evidence: { value: 100 },
    });
    expect(await judge("echo 'ops/s: 99999'; echo 'ops/s: 100'")).toMatchObject({
      is: "fail",
      evidence: { value: 100 },
    });
    expect(await judge("echo 'ops/s: 3000'; echo 'ops/s: 2000'")).toMatchObject({
      is: "pass",
      evidence: { value: 2000 },
    });
  });

  it("fails as the command does, whatever it printed before", async () => {
    expect(await judge("echo 'ops/s: 5000'; exit 3")).toMatchObject({ is: "fail", evidence: { exitCode: 3 } });
  });

  it("knows nothing without a number", async () => {
    for (const said of ["", "ops/s: NaN", "ops/s: fast", "ops/s: 1,234", "ops/s: 1.2.3", "xops/s: 2000"])
      expect(await judge(`echo '${said}'`), said).toMatchObject({
        is: "unverifiable",
        reason: "it printed no line `ops/s: NUMBER`, so nothing was measured",
      });
    expect(await judge(`echo '{"a":"7"}'`, { value: { json: "a" } })).toMatchObject({ is: "unverifiable" });
  });
});

describe("a number in an output", () => {
  const json = (output: string, path: string): number[] => numbersIn(output, { json: path });

  it("is found by its line, with units behind it", () => {
    expect(numbersIn("size: 12.5KB\n  size = -3e2 ms\nsize:.5", { line: "size" })).toEqual([12.5, -300, 0.5]);
    expect(numbersIn("a.b (x): 1\naxb (x): 2", { line: "a.b (x)" })).toEqual([1]);
  });

  it("is found in JSON on one line, on many, or after other output", () => {
    expect(json('{"a":{"b":1}}', "a.b")).toEqual([1]);
    expect(json('{\n "a": [\n  {"b": 2}\n ]\n}\n', "a[0].b")).toEqual([2]);
    expect(json('warming up {1}\n[info] x\n{\n "a": 3\n}', "a")).toEqual([3]);
    expect(json('{"a": 4}\ndone\n', "a")).toEqual([4]);
    expect(json('{"a b": {"c.d": 5}}', '["a b"]["c.d"]')).toEqual([5]);
    expect(json('{"a": {}}', "a.constructor")).toEqual([]);
    expect(json("7", "a")).toEqual([]);
  });

  it("has a path that can be read, or none", () => {
    expect(stepsOf("a.b[0].c")).toEqual(["a", "b", 0, "c"]);
    expect(stepsOf("[0]")).toEqual([0]);
    for (const wrong of ["", "a..b", "a[", "a[x]", ".", "a."]) expect(stepsOf(wrong), wrong).toBeUndefined();
  });
});
