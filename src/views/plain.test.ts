import { assert, constantFrom, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { oneLine, plain } from "./plain.ts";

const ESC = "\u001b";
const BEL = "\u0007";

/** A9: what agents and programs could send to take over a terminal. */
const PAYLOADS = [
  `${ESC}[31mred${ESC}[0m`,
  `${ESC}]0;title${BEL}`,
  `${ESC}]8;;http://evil${BEL}link${ESC}]8;;${BEL}`,
  `${ESC}]52;c;ZXZpbA==${BEL}`,
  `${ESC}]52;c;ZXZpbA==${ESC}\\`,
  `${ESC}]1337;File=:AAAA${BEL}`,
  `${ESC}P+q544e${ESC}\\`,
  `${ESC}_private${ESC}\\`,
  `${ESC}^private${ESC}\\`,
  `${ESC}Xsos${ESC}\\`,
  `${ESC}c`,
  `${ESC}(0`,
  `${ESC}[2J${ESC}[H`,
  `${ESC}[?1049h`,
  `${ESC}[6n`,
  "\u009b31mred",
  "\u009d0;title\u009c",
  "\u0090q\u009c",
  "over\rwritten",
  "back\b\b\b\bspace",
  `bell${BEL}`,
  "nul\u0000",
  "del\u007f",
  "\u202egnp.exe",
  "\u2066hidden\u2069",
  `${ESC}${ESC}[31m]0;x${BEL}`,
  `${ESC}[3${ESC}[1m1m`,
  `${ESC}]0;never ends`,
];

// oxlint-disable-next-line no-control-regex -- that there is none is what is asserted
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe("text for a terminal", () => {
  it.each(PAYLOADS)("lets no control through: %j", (payload) => {
    expect(plain(`before ${payload} after`)).not.toMatch(DANGEROUS);
    expect(plain(`before ${payload} after`)).toMatch(/^before /);
  });

  it("lets no control through, whatever the text", () => {
    const hostile = string({
      unit: constantFrom(ESC, BEL, "[", "]", "P", "\\", ";", "m", "0", "\r", "\n", "\u009b", "x"),
    });
    assert(property(hostile, (text) => !DANGEROUS.test(plain(text))));
  });

  it("keeps ordinary text, lines and tabs as they are, and hides at most the rest of a line", () => {
    const text = "naïve 日本語 🎉\n\tindented → ok";
    expect(plain(text)).toBe(text);
    expect(plain(`${ESC}]0;never ends\nnext line`)).toMatch(/\nnext line$/);
    expect(plain(`${ESC}]0;ends late\nnext line\n${BEL}`)).toContain("\nnext line\n");
  });

  it.each([
    [`${ESC}[31mred${ESC}[0m`, "red"],
    [`${ESC}]8;;http://evil${BEL}link${ESC}]8;;${BEL}`, "link"],
    [`${ESC}]52;c;ZXZpbA==${ESC}\\`, ""],
    [`${ESC}P+q544e${ESC}\\`, ""],
    [`${ESC}(0`, ""],
    ["\u009b31mred", "red"],
    ["\u009d0;title\u009c", ""],
  ])("leaves nothing of what is inside a sequence: %j", (payload, left) => {
    expect(plain(`before ${payload} after`)).toBe(`before ${left} after`);
  });

  it.each([`${ESC}]`, "\u009d", "\u0090", "\u009b1;", `${ESC}[1`, ESC])(
    "takes linear time over many openings: %j",
    (opening) => {
      const long = opening.repeat(500_000);
      expect(plain(long).length).toBeLessThanOrEqual(long.length);
    },
  );

  it("makes one bounded line", () => {
    expect(oneLine("a\n  b\tc", { max: 10 })).toBe("a b c");
    expect(oneLine("x".repeat(1_000_000), { max: 10 })).toBe(`${"x".repeat(9)}…`);
  });
});
