import { describe, expect, it } from "vitest";
import { parsedFlags, resolveSettings } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { toRunSpec } from "../run-spec.ts";

function specOf(checks: unknown[], goal = "g") {
  const resolved = resolveSettings({ flags: { checks }, env: {}, repository: undefined, userDir: undefined });
  const about = { run: "r-1", goal, repository: "/r", path: "/r", branch: "pawl/g", environment: {} };
  return toRunSpec(resolved, { ...about, fence: "none", hosts: [] });
}
const base = { required: true, timeoutMs: 600_000 };

describe("a check in pawl.yaml", () => {
  it("is a command, as ever", () => {
    expect(
      specOf(["npm test", { name: "lint", run: "eslint .", timeout: "1m", required: false, weight: 2 }]).checks,
    ).toEqual([
      { ...base, name: "npm test", kind: "command", command: "npm test" },
      { name: "lint", kind: "command", command: "eslint .", required: false, timeoutMs: 60_000, weight: 2 },
    ]);
  });

  it("asks something of files", () => {
    const essay = { file: "essay.md", words: { min: 300, max: 500 }, without: ["as an AI"] };
    expect(
      specOf([{ requires: essay }, { name: "both", requires: ["a.md", { file: "b.md", matches: "^#" }] }]).checks,
    ).toEqual([
      {
        ...base,
        name: "essay.md",
        kind: "requirement",
        command: 'requires essay.md (300 to 500 words; without "as an AI")',
        require: [essay],
      },
      {
        ...base,
        name: "both",
        kind: "requirement",
        command: 'requires a.md, b.md (matching "^#")',
        require: [{ file: "a.md" }, { file: "b.md", matches: ["^#"] }],
      },
    ]);
    expect(specOf([{ requires: { file: "x", exists: false } }]).checks[0]?.command).toBe("requires no x");
  });

  it("guards a change", () => {
    expect(specOf([{ guard: "default, protected-paths", "max-lines": 400, forbid: ["infra"] }]).checks).toMatchObject([
      {
        name: "guard",
        kind: "guard",
        rules: [
          "tests-deleted",
          "tests-skipped",
          "tests-emptied",
          "suppressions",
          "secrets",
          "protected-paths",
          "diff-size",
          "forbidden-paths",
        ],
        maxLines: 400,
        paths: ["infra"],
      },
    ]);
  });

  it("lets a model judge, and holds a number to a range", () => {
    expect(
      specOf([{ judge: "It is clear.\nAnd short." }, { metric: { run: "node bench.js", line: "ops/s", min: 1000 } }])
        .checks,
    ).toEqual([
      {
        ...base,
        name: "judge",
        kind: "judge",
        command: "judge, at least 0.7: It is clear. And short.",
        rubric: "It is clear.\nAnd short.",
        passScore: 0.7,
      },
      { ...base, name: "ops/s", kind: "metric", command: "node bench.js", value: { line: "ops/s" }, min: 1000 },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ["nothing it could be", { nme: "x" }, /must be a command, or have one of: run, requires, guard, judge, metric/],
    ["a kind misspelt", { requres: "a.md" }, /has no key requres; did you mean requires\?/],
    ["two kinds", { run: "true", judge: "x" }, /must be one kind of check, not run and judge/],
    ["a name alone", "tests=", /--check must have a command behind its name, as in tests=npm test, not "tests="/],
    ["a name and spaces", " tests=  ", /must have a command behind its name/],
    ["a number", 5, /must be a command/],
    ["an unknown key", { judge: "x", score: 1 }, /has an unknown key score/],
    ["an unknown condition", { requires: { file: "a", word: 5 } }, /requires has an unknown key word/],
    ["no file", { requires: { words: { min: 5 } } }, /requires file must be text/],
    ["a file outside", { requires: "../a" }, /requires must be a file inside the repository/],
    [
      "one of several",
      { requires: ["a", { file: "b", matches: "(" }] },
      /requires matches must be a regular expression/,
    ],
    ["a range upside down", { requires: { file: "a", words: { min: 5, max: 4 } } }, /words has a min above its max/],
    ["half a word", { requires: { file: "a", words: { min: 1.5 } } }, /words\.min must be a whole number/],
    [
      "a schema that would let all through",
      { requires: { file: "a", schema: { format: "date" } } },
      /schema cannot be used: format is not a keyword/,
    ],
    [
      "text of what must not exist",
      { requires: { file: "a", exists: false, contains: "x" } },
      /asks something of a file that must not exist/,
    ],
    ["a rule misspelt", { guard: ["secret"] }, /guard\.0 has no rule secret; did you mean secrets\?/],
    ["no rule", { guard: [] }, /guard must not be empty/],
    ["a size without a limit", { guard: "diff-size" }, /diff-size needs max-lines/],
    ["a place without a name", { guard: "forbidden-paths" }, /forbidden-paths needs forbid/],
    ["a score in percent", { judge: "x", pass: 70 }, /pass must be from 0 to 1/],
    ["an empty rubric", { judge: " " }, /judge must not be empty/],
    ["a number from nowhere", { metric: { run: "x" } }, /metric must have either `line` or `json`/],
    ["a broken path", { metric: { run: "x", json: "a..b" } }, /metric\.json must be a path such as a\.b\[0\]\.c/],
    ["a metric that is a command", { metric: "node bench.js" }, /metric must have `run`, and `line` or `json`/],
  ])("with %s is refused in one line", (_, check, says) => {
    let error: unknown;
    try {
      parsedFlags({ checks: [check] });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(UsageError);
    const { message } = error as Error;
    // Where it is stands in brackets before the words, or in the words.
    expect(message.replace(/\((?:\d+\.?)?([\w.]*)\)/, "$1")).toMatch(says);
    expect(message).not.toContain("\n");
  });
});

describe("acceptance criteria", () => {
  const goal =
    "g\n\n## Criteria\n\n- it is short (check: essay.md)\n- it is true\n- all of it (checks: essay.md, tests).\n";
  const checks = ["tests=npm test", { requires: "essay.md" }];

  it("name in the goal the checks that prove them", () => {
    expect(specOf(checks, goal).criteria).toEqual([
      { text: "it is short", checks: ["essay.md"] },
      { text: "it is true", checks: [] },
      { text: "all of it", checks: ["essay.md", "tests"] },
    ]);
  });

  it("are refused when they name none that is there", () => {
    expect(() => specOf(["tets=npm test"], goal)).toThrow(/criterion 1 names a check that is not there: essay\.md/);
    const near = (): unknown => specOf([{ requires: "essay.md" }, "test=npm test"], goal);
    expect(near).toThrow(expect.objectContaining({ hint: "did you mean test?" }));
  });
});
