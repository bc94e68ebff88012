import { describe, expect, it } from "vitest";
import { readTasks } from "./task-list.ts";
import { compareTasks, type Look } from "./task-watch.ts";

function look(before: string, now: string | undefined, more: Partial<Look> = {}): ReturnType<typeof compareTasks> {
  const plain = (text: string) =>
    readTasks(text).map(({ id, text: said, depth, is }) => ({ id, text: said, depth, is }));
  return compareTasks({
    by: "agent",
    before: plain(before),
    now: now === undefined ? undefined : plain(now),
    file: "TASKS.md",
    work: 1,
    worked: new Set(),
    settled: new Set(plain(before).flatMap(({ id, is }) => (is === "done" || is === "skipped" ? [id] : []))),
    ...more,
  });
}
const isOf = (tasks: readonly { text: string; is: string }[]): string[] => tasks.map(({ text, is }) => `${is} ${text}`);

describe("the watch over the tasks", () => {
  const two = "- [ ] a\n- [ ] b\n";

  it("says nothing of honest work, new tasks, another order or a note behind a task", () => {
    expect(look(two, "- [x] a\n- [ ] b\n").suspicions).toEqual([]);
    expect(look(two, "- [ ] b\n- [/] a\n- [ ] c\n").suspicions).toEqual([]);
    const noted = look(two, "- [x] a (see a.ts)\n- [ ] b\n");
    expect(noted.suspicions).toEqual([]);
    expect(isOf(noted.tasks)).toEqual(["done a (see a.ts)", "todo b"]);
  });

  it("reports a tick where nothing but the task file changed, unless the work was done before", () => {
    const without = look(two, "- [x] a\n- [ ] b\n", { work: 0 });
    expect(without.suspicions).toEqual(["task “a” was ticked though nothing but TASKS.md changed"]);
    const worked = new Set([readTasks(two)[0]?.id ?? ""]);
    expect(look(two, "- [x] a\n- [ ] b\n", { work: 0, worked }).suspicions).toEqual([]);
  });

  it("reports several ticked at once with hardly any work, and what the agent skips", () => {
    expect(look(`${two}- [ ] c\n`, "- [x] a\n- [x] b\n- [x] c\n").suspicions).toEqual([
      "3 tasks were ticked at once, with a change in 1 file",
    ]);
    expect(look(two, "- [-] a\n- [ ] b\n").suspicions).toEqual(["task “a” was skipped by the agent"]);
  });

  it("keeps open tasks that vanished or were reworded on the list, as missing, until they are back", () => {
    const gone = look(two, "- [ ] b\n");
    expect(gone.suspicions).toEqual(["open task “a” is gone from TASKS.md"]);
    expect(isOf(gone.tasks)).toEqual(["todo b", "missing a"]);
    const reworded = look(two, "- [x] something easier\n- [ ] b\n");
    expect(reworded.suspicions).toEqual(["open task “a” was rewritten as “something easier”"]);
    expect(isOf(reworded.tasks)).toEqual(["done something easier", "todo b", "missing a"]);
    expect(isOf(look(two, undefined).tasks)).toEqual(["missing a", "missing b"]);
    const still = compareTasks({
      by: "agent",
      before: gone.tasks,
      now: gone.tasks.slice(0, 1),
      file: "T",
      work: 1,
      worked: new Set(),
      settled: new Set(),
    });
    expect(isOf(still.tasks)).toEqual(["todo b", "missing a"]);
    expect(still.suspicions).toEqual([]);
    const back = compareTasks({
      by: "agent",
      before: gone.tasks,
      now: look(two, two).tasks,
      file: "T",
      work: 1,
      worked: new Set(),
      settled: new Set(),
    });
    expect(isOf(back.tasks)).toEqual(["todo a", "todo b"]);
  });

  it("tells twins apart by what is open: a settled one may go, an open one may not", () => {
    const twins = "- [x] a\n- [ ] a\n";
    expect(look(twins, "- [ ] a\n")).toMatchObject({ suspicions: [], tasks: [{ text: "a", is: "todo" }] });
    expect(look(twins, "- [/] a\n").suspicions).toEqual([]);
    const gone = look(twins, "- [x] a\n");
    expect(gone.suspicions).toEqual(["open task “a” is gone from TASKS.md"]);
    expect(isOf(gone.tasks)).toEqual(["done a", "missing a"]);
    const first = look("- [ ] a\n- [x] a\n", "- [x] a\n");
    expect(isOf(first.tasks)).toEqual(["done a", "missing a"]);
    expect(new Set(first.tasks.map(({ id }) => id)).size).toBe(2);
    expect(look("- [x] a\n", "- [ ] a\n- [x] a\n").suspicions).toEqual([]);
    expect(look("- [ ] a\n- [x] a\n", "- [x] a\n- [x] a\n", { work: 0 }).suspicions).toHaveLength(1);
  });

  it("does not let a task go that was ticked before its iteration came", () => {
    const early = look("- [x] a\n- [ ] b\n", "- [ ] b\n", { settled: new Set() });
    expect(isOf(early.tasks)).toEqual(["todo b", "missing a"]);
    expect(early.suspicions).toEqual(["open task “a” is gone from TASKS.md"]);
  });

  it("lets a done task go, and honours whatever a person does to the file", () => {
    expect(look("- [x] a\n- [ ] b\n", "- [ ] b\n")).toMatchObject({ suspicions: [], tasks: [{ text: "b" }] });
    expect(look(two, "- [ ] b\n", { by: "person" })).toMatchObject({ suspicions: [], tasks: [{ text: "b" }] });
  });
});
