import { expect, it } from "vitest";
import { choicesOf, permissionText } from "./ask-words.ts";

it("shows a command on one line, with nothing in it that moves a terminal or hides", () => {
  expect(permissionText("Bash", { command: "ls\n  -l \u001B[2K\u202Eevil\u200B" })).toBe(
    "Bash: ls -l \\u{1b}[2K\\u{202e}evil\\u{200b}",
  );
  expect(permissionText("Write", { file_path: "a.txt", content: "hi" })).toBe(
    'Write: {"file_path":"a.txt","content":"hi"}',
  );
});

it("says how much of a long command is left out", () => {
  const text = permissionText("Bash", { command: `true ${"#".repeat(2_000)}; rm -rf /` });
  expect(text.length).toBeLessThan(1_100);
  expect(text).toMatch(/… \(\d+ more characters\)$/);
});

it("reads the questions of a call, and skips what is none", () => {
  const options = [{ label: "A", description: "the first" }, { label: "B" }, "C", { description: "no label" }];
  const input = { questions: [{ question: "Which?", multiSelect: true, options }, { header: "none" }, null] };
  expect(choicesOf(input)).toEqual([
    {
      key: "Which?",
      text: "Which? (several may be chosen, joined by commas)\n- A: the first\n- B",
      options: ["A", "B"],
    },
  ]);
  expect(choicesOf({ questions: "Which?" })).toEqual([]);
});
