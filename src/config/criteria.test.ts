/** Which lines of a goal are acceptance criteria. */
import { describe, expect, it } from "vitest";
import { criteriaIn, criterionOf } from "./criteria.ts";

/** What would take the square of it would take an hour. */
const MANY = 500_000;

describe("acceptance criteria in a goal", () => {
  it.each([
    ["a heading of any level and case", "Fix it.\n\n### ACCEPTANCE CRITERIA\n\n- one\n- two\n", ["one", "two"]],
    ["checkboxes and numbers", "# Definition of done:\n1. [ ] one\n2) [x] two\n* three", ["one", "two", "three"]],
    ["an underlined heading", "Criteria\n---\n- one\n", ["one"]],
    ["bold words and a colon", "Do it\n\n**Acceptance criteria**:\n- one\n\nCriteria:\n- two\n", ["one", "two"]],
    ["words that go on in the next line", "## Criteria\n- one is\n  long\n- two\n", ["one is long", "two"]],
    [
      "subsections, up to the next heading of its level",
      "## Criteria\n### api\n- a\n### ui\n- b\n## Notes\n- c",
      ["a", "b"],
    ],
    ["the same twice as one", "## Criteria\n- a\n- a\n", ["a"]],
    ["nothing without such a heading", "- [ ] one\n- two", []],
    ["nothing of a sentence that speaks of criteria", "Meet the criteria\n- one", []],
    ["nothing of a code block", "```\n## Criteria\n- one\n```\n- two", []],
    ["nothing after a plain title's list ended", "Criteria:\n- one\n\nThen do this:\n- two", ["one"]],
  ])("takes %s", (_, goal, expected) => {
    expect(criteriaIn(goal)).toEqual(expected);
  });

  it.each([
    ["- - - …", "- ".repeat(MANY), 1],
    ["blanks in an item", `- a${" ".repeat(MANY)}b`, 1],
    ["blanks before words", `${" ".repeat(MANY)}x`, 0],
    ["hashes", "#".repeat(MANY), 0],
    ["stars", `${"*_".repeat(MANY)}:`, 0],
    ["blanks in a heading", `# a${" ".repeat(MANY)}x`, 0],
    ["hashes in a heading", `# ${"#".repeat(MANY)}x`, 0],
  ])("are found in linear time among many: %s", (_, line, count) => {
    expect(criteriaIn(`## Criteria\n- one\n\n${line}`)).toHaveLength(1 + count);
  });

  it.each([
    ["a", "x"],
    ["a (check:", "("],
    ["a (check: b)", "x"],
  ])("binds no check to a text of many blanks between %j and %j, in linear time", (before, after) => {
    const text = `${before}${" ".repeat(MANY)}${after}`;
    expect(criterionOf(text)).toEqual({ text, checks: [] });
  });
});
