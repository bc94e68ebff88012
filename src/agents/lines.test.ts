import { expect, it } from "vitest";
import { lines } from "./lines.ts";

it("gives whole lines, however they come, and passes over what is too long", () => {
  const got: string[] = [];
  const reader = lines((line) => got.push(line), { maxBytes: 8 });
  for (const part of ["a", "b\n\nc", "é", "d\n", "0123456789", "0123\nlast\nopen"]) reader.take(Buffer.from(part));
  expect(got).toEqual(["ab", "céd", "last"]);
  expect(reader.dropped()).toBe(1);
});

it("gives empty lines and the rest of what was said, to who asks for them", () => {
  const got: (string | number)[] = [];
  const reader = lines((line) => got.push(line), { maxBytes: 8, keepEmpty: true, onTooLong: (n) => got.push(n) });
  reader.take(Buffer.from("a\n\n0123456789\nopen"));
  reader.end();
  reader.end();
  expect(got).toEqual(["a", "", 10, "open"]);
});

it("joins a character that was cut in two", () => {
  const got: string[] = [];
  const reader = lines((line) => got.push(line));
  const bytes = Buffer.from("ü\n");
  reader.take(bytes.subarray(0, 1));
  reader.take(bytes.subarray(1));
  expect(got).toEqual(["ü"]);
});
