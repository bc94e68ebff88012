import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editTasks } from "./task-edit.ts";
import { readTasks, taskId, withMark, withoutTask, withTask } from "./task-list.ts";

const MIXED = [
  "# Plan",
  "",
  "Some words. - [ ] not a task",
  "- [ ] first",
  "  - [x] first, part one",
  "  more words of the first",
  "  - [/] first, part two",
  "* [X] second",
  "+ [-] third",
  "1. [ ] fourth",
  "2) [/] fifth",
  "- plain",
  "- [link] no task",
  "- [y] no task either",
  "- [ ]",
  "```md",
  "- [ ] inside code",
  "```",
  "<!--",
  "- [ ] inside a comment",
  "-->",
  "- [ ] first",
  "",
].join("\n");

const brief = (text: string): string[] => readTasks(text).map(({ text: said, depth, is }) => `${depth} ${is} ${said}`);
const idOf = (text: string, said: string): string => readTasks(text).find((task) => task.text === said)?.id ?? "none";
const edit = (text: string, as: "done" | "skipped" | "todo" | "removed", said: string): string =>
  editTasks(text, { edit: { kind: "task-mark", as, task: idOf(text, said) }, known: readTasks(text) }).text;

describe("a task list", () => {
  it("has every kind of bullet and mark, subtasks by indentation, and nothing of code or comments", () => {
    expect(brief(MIXED)).toEqual([
      "0 todo first",
      "1 done first, part one",
      "1 doing first, part two",
      "0 done second",
      "0 skipped third",
      "0 todo fourth",
      "0 doing fifth",
      "0 todo first",
    ]);
  });

  it("is not cut short by a comment's beginning in inline code or in the words of a task, nor by odd line separators", () => {
    const text = "- [ ] handle `<!--`\n- [ ] b <!-- c\n- [ ] d\u2028e\nsee ``a ` <!--`` there\n- [ ] f\n";
    expect(brief(text)).toEqual(["0 todo handle `<!--`", "0 todo b <!-- c", "0 todo d\u2028e", "0 todo f"]);
    expect(brief("`code` <!-- hidden\n- [ ] a\n-->\n- [ ] b\n")).toEqual(["0 todo b"]);
  });

  it("has an end of code with the list item that the code is in, closed or not", () => {
    expect(brief("- [ ] a\n  ```sh\n  - [ ] code\n- [ ] b\n  ```\n  - [ ] code\n\n- [ ] c\n")).toEqual([
      "0 todo a",
      "0 todo b",
      "0 todo c",
    ]);
    expect(brief("- ~~~\n  - [ ] code\n- [ ] b\n")).toEqual(["0 todo b"]);
    expect(brief("1. words\n\n   ```\n   - [ ] code\n\nafter\n- [ ] b\n")).toEqual(["0 todo b"]);
    expect(brief("- plain <!-- words\n- [ ] b\n")).toEqual(["0 todo b"]);
    expect(brief("```\n- [ ] code\n")).toEqual([]);
    expect(brief("```\n    ```\n- [ ] code\n")).toEqual([]);
  });

  it("has nothing of code that is indented by four columns more than its place, and everything of nested lists", () => {
    expect(brief("Like this:\n\n    - [ ] code\n\n- [ ] a\n")).toEqual(["0 todo a"]);
    expect(brief("# T\n\n\t- [ ] code\n    - [ ] code\n- [ ] a\n")).toEqual(["0 todo a"]);
    expect(brief("Title\n===\n    - [ ] code\n---\n    - [ ] code\n")).toEqual([]);
    expect(brief("- [ ] a\n\n      - [ ] code\n\n    - [ ] b\n        - [ ] c\n")).toEqual([
      "0 todo a",
      "1 todo b",
      "2 todo c",
    ]);
    expect(brief("10. [ ] a\n\n    - [ ] b\n\n\t- [ ] c\n")).toEqual(["0 todo a", "1 todo b", "1 todo c"]);
    expect(brief("- - x\n\n    - [ ] a\n\n          - [ ] code\n")).toEqual(["0 todo a"]);
    expect(brief("words\n    - [ ] a\n")).toEqual(["0 todo a"]);
  });

  it("leaves a sibling that is indented by one column alone, whatever is done to the task above it", () => {
    const text = "- [ ] one\n - [ ] two\n- [ ] three\n";
    expect(edit(text, "removed", "one")).toBe(" - [ ] two\n- [ ] three\n");
    expect(edit(text, "done", "one")).toBe("- [x] one\n - [ ] two\n- [ ] three\n");
  });

  it("refuses to remove the last of several that say the same once another was removed, instead of saying it did", () => {
    const text = "- [ ] same\n- [ ] same\n";
    const known = readTasks(text);
    const [first, last] = known.map(({ id }) => ({ kind: "task-mark" as const, as: "removed" as const, task: id }));
    if (first === undefined || last === undefined) throw new Error("two tasks");
    const once = editTasks(text, { edit: first, known });
    expect(once).toMatchObject({ text: "- [ ] same\n", refused: false });
    const twice = editTasks(once.text, { edit: last, known: readTasks(once.text) });
    expect(twice).toEqual({ text: once.text, how: "not done: there is no such task any more", refused: true });
  });

  it("knows a task by what it says, not by where it stands; one said twice has two ids", () => {
    const ids = readTasks(MIXED).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.at(-1)).toBe(`${taskId("first")}-2`);
    const moved = readTasks(`- [ ] new\n${MIXED}`).map(({ id }) => id);
    expect(moved.slice(1)).toEqual(ids);
    expect(taskId("Do  the\tthing ")).toBe(taskId("do the thing"));
  });

  it("removes exactly the task that `list` shows, whatever other brackets stand in the file (defect of a peer)", () => {
    const text = "- [link](x) first\n- [y] odd\n- [ ] one\n- [x] two\n- [X] three\n- [/] four\n";
    for (const [said, line] of [
      ["one", "- [ ] one\n"],
      ["two", "- [x] two\n"],
      ["three", "- [X] three\n"],
      ["four", "- [/] four\n"],
    ] as const) {
      expect(edit(text, "removed", said)).toBe(text.replace(line, ""));
    }
  });

  it("removes a task with its subtasks and its own words, and leaves the blank lines and the rest", () => {
    const text = "- [ ] a\n  words\n\n  - [ ] b\n\nafter\n- [ ] c\n";
    expect(edit(text, "removed", "a")).toBe("\nafter\n- [ ] c\n");
    expect(edit(text, "removed", "b")).toBe("- [ ] a\n  words\n\n\nafter\n- [ ] c\n");
  });

  it("ticks all subtasks with their task, and no task beside it", () => {
    const text = "- [ ] a\n  - [ ] b\n    - [/] c\n  - [-] d\n- [ ] e\n";
    expect(edit(text, "done", "a")).toBe("- [x] a\n  - [x] b\n    - [x] c\n  - [-] d\n- [ ] e\n");
    expect(edit(text, "skipped", "a")).toBe(text.replace("[ ] a", "[-] a"));
  });

  it.each([
    ["", "- [ ] new\n"],
    ["# T\n", "# T\n- [ ] new\n"],
    ["- [ ] a", "- [ ] a\n- [ ] new"],
    ["- [ ] a\r\n", "- [ ] a\r\n- [ ] new\r\n"],
    ["* [x] a\n  - [ ] b\n\ntail\n", "* [x] a\n  - [ ] b\n* [ ] new\n\ntail\n"],
    ["1. [ ] a\n2. [ ] b\n", "1. [ ] a\n2. [ ] b\n3. [ ] new\n"],
    ["  - [ ] a\n", "  - [ ] a\n  - [ ] new\n"],
  ])("adds to %j", (text, after) => {
    expect(withTask(text, "  new ")).toBe(after);
  });

  it("keeps every other byte: CRLF, a byte order mark, trailing blanks, tabs, no last newline", () => {
    const text = "\uFEFF- [ ] a \r\n\t- [ ] b\r\n\r\n- [ ] c  ";
    expect(brief(text)).toEqual(["0 todo a", "1 todo b", "0 todo c"]);
    expect(edit(text, "done", "c")).toBe(text.replace("[ ] c", "[x] c"));
    expect(edit(text, "done", "a")).toBe("\uFEFF- [x] a \r\n\t- [x] b\r\n\r\n- [ ] c  ");
  });

  it("does not touch what is not UTF-8, and says so", () => {
    const result = editTasks("- [ ] caf\uFFFD\n", { edit: { kind: "task-add", text: "x" }, known: [] });
    expect(result).toMatchObject({ refused: true, how: expect.stringContaining("not UTF-8") });
  });

  it("changes one character by a mark and whole lines by a removal, in any text", () => {
    const line = fc.oneof(
      fc
        .tuple(
          fc.constantFrom("", "  ", "\t", "    "),
          fc.constantFrom("-", "*", "+", "3.", "7)"),
          fc.constantFrom(" ", "x", "X", "/", "-"),
          fc.constantFrom("a", "b b", "a", "c — d"),
        )
        .map(([indent, bullet, mark, said]) => `${indent}${bullet} [${mark}] ${said}`),
      fc.constantFrom("", "words", "  words", "# head", "```", "~~~", "<!-- x", "-->", "- [ ]", "- plain"),
    );
    const texts = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
      .map(([lines, eol, ended]) => lines.join(eol) + (ended ? eol : ""));
    let tried = 0;
    fc.assert(
      fc.property(texts, fc.nat(), (text, n) => {
        const tasks = readTasks(text);
        const task = tasks[n % Math.max(1, tasks.length)];
        if (task === undefined) return;
        tried += 1;
        const marked = withMark(text, { at: task.at, is: "skipped" });
        expect(marked).toHaveLength(text.length);
        const changed = Array.from({ length: text.length }, (_, at) => at).filter((at) => marked[at] !== text[at]);
        expect(changed).toHaveLength(task.is === "skipped" ? 0 : 1);
        expect(readTasks(marked).find(({ id }) => id === task.id)?.is).toBe("skipped");
        const lines = text.split(/(?<=\n)/);
        const rest = [...lines.slice(0, task.at.from), ...lines.slice(task.at.to)].join("");
        expect(withoutTask(text, task.at)).toBe(rest);
      }),
      { numRuns: 500 },
    );
    expect(tried).toBeGreaterThan(250);
  });
});

describe("a person's change", () => {
  const text = "- [ ] a\n- [ ] a\n- [ ] b\n";
  const known = readTasks(text);
  it("done twice is done once: additions, removals, marks", () => {
    for (const change of [
      { kind: "task-add", text: "a" },
      { kind: "task-add", text: "new" },
      { kind: "task-mark", as: "removed", task: taskId("a") },
      { kind: "task-mark", as: "done", task: taskId("b") },
    ] as const) {
      const once = editTasks(text, { edit: change, known });
      expect(once.text).not.toBe(text);
      expect(editTasks(once.text, { edit: change, known }).text).toBe(once.text);
    }
  });

  it("puts a task back that was taken out, or is done with it", () => {
    const missing = [{ id: taskId("gone"), text: "gone", depth: 0, is: "missing" as const }];
    const mark = (as: "todo" | "skipped" | "removed") =>
      editTasks(text, { edit: { kind: "task-mark", as, task: taskId("gone") }, known: missing });
    expect(mark("todo").text).toBe(`${text}- [ ] gone\n`);
    expect(mark("removed")).toMatchObject({ text, refused: false });
    expect(editTasks(text, { edit: { kind: "task-mark", as: "done", task: "x" }, known })).toMatchObject({
      refused: true,
    });
  });
});
