/** The JSON of vitest and jest, which is one shape; pawl's own listeners in mocha and playwright write it too. */
import type { RawTest, TestStatus } from "./report.ts";
import { lookUp } from "../../platform/look-up.ts";

const MAX_SAID_CHARS = 16_000;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function readJestJson(value: unknown): RawTest[] | undefined {
  if (!isObject(value) || !Array.isArray(value["testResults"])) return undefined;
  return value["testResults"].filter(isObject).flatMap((suite) => {
    const file = textOf(suite["name"]);
    const tests = listOf(suite["assertionResults"]).filter(isObject);
    const raw = tests.map((test) => testOf(test, file));
    const isRed = raw.some(({ status }) => status === "fail");
    const isBroken = suite["broken"] === true || (suite["status"] === "failed" && !isRed);
    return isBroken
      ? [...raw, { file, names: [], status: "fail" as const, broken: true, said: saidOf([suite["message"]]) }]
      : raw;
  });
}

const STATUS: Readonly<Record<string, TestStatus>> = { passed: "pass", failed: "fail" };

function testOf(test: Json, file: string): RawTest {
  const { expected, actual } = test;
  const location = isObject(test["location"]) ? test["location"]["line"] : undefined;
  const status = lookUp(STATUS, textOf(test["status"])) ?? "skip";
  const names = [...listOf(test["ancestorTitles"]), test["title"]].map(textOf);
  if (status !== "fail") return { file, names, status };
  return {
    file,
    names,
    status,
    said: saidOf(listOf(test["failureMessages"])),
    ...(test["broken"] === true ? { broken: true } : {}),
    ...(typeof location === "number" && Number.isSafeInteger(location) && location >= 0 ? { line: location } : {}),
    ...(typeof expected === "string" && typeof actual === "string" ? { expected, actual } : {}),
  };
}

const saidOf = (messages: readonly unknown[]): string => messages.map(textOf).join("\n").slice(0, MAX_SAID_CHARS);
