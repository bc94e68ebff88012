/** Tests that the base could not load: code under test cannot skip some of them, and what their own text skips is skipped. */
import { describe, expect, it } from "vitest";
import { inOneWord, judgedFeature, LIMIT_MS, type Files } from "../../test/support/feature.ts";
import { isMissing } from "../../test/support/programs.ts";
import { CHEATS, HONEST, jest, nodeTest, pytest, VANISHED, vitest, type Case } from "../../test/support/skip-cases.ts";
import type { Verdict } from "../events.ts";

const isLeftOut = ({ program }: Case): boolean => program !== undefined && isMissing(program);
/** These start slowly, and keep files apart: all cases of one command in one project, each in a folder of its own. */
const TOGETHER: ReadonlySet<string> = new Set([
  pytest("").command,
  jest("").command,
  vitest("").command,
  nodeTest("").command,
]);
const alone = (cases: Record<string, Case>): [string, Case][] =>
  Object.entries(cases).filter(([, { command }]) => !TOGETHER.has(command));

describe.each(alone(CHEATS))("code under test that skips its own test: %s", (_, given) => {
  it.skipIf(isLeftOut(given))("is not green", { timeout: LIMIT_MS }, async () => {
    const after = await judged(given);
    expect(inOneWord(after), JSON.stringify(after)).not.toBe("green");
    expect(JSON.stringify(after)).toMatch(/nothing in their text says so|no test file says so/);
  });
});

describe.each(Object.entries(VANISHED))("code under test that makes its own test vanish: %s", (_, given) => {
  it.skipIf(isLeftOut(given))("is not green", { timeout: LIMIT_MS }, async () => {
    const after = await judged(given);
    expect(inOneWord(after), JSON.stringify(after)).toBe("suspicious");
    expect(JSON.stringify(after)).toMatch(/they stand in files .* and do not run: (?:multiplies|test_mul) \(/);
  });
});

describe.each(alone(HONEST))("a test whose own text skips it: %s", (_, given) => {
  it.skipIf(isLeftOut(given))("is green", { timeout: LIMIT_MS }, async () => {
    const after = await judged(given);
    expect(inOneWord(after), JSON.stringify(after)).toBe("green");
  });
});

describe.each([...TOGETHER])("%s", (command) => {
  const of = (cases: Record<string, Case>): Case[] => Object.values(cases).filter((one) => one.command === command);
  const isOut = of(HONEST).some(isLeftOut);

  it.skipIf(isOut)(
    "has every test told that code under test skips, and no other (A11)",
    { timeout: LIMIT_MS },
    async () => {
      const cheats = of(CHEATS);
      const after = await judged(together(cheats));
      const failures = "failures" in after ? after.failures : [];
      const said = JSON.stringify([failures, "evidence" in after ? after.evidence.suspicions : []]);
      const told = [...new Set(said.match(/c\d+\/\w+[\w.]*(?:::\w+| > \w+| ran)/g))].toSorted();
      const isOne = (n: number) =>
        expect.stringMatching(new RegExp(`^c${n}/.*(?:::test_mul| > (?:multiplies|skips)| ran)$`)) as string;
      expect(told, said).toEqual(cheats.map((_, n) => isOne(n)));
    },
  );

  it.skipIf(isOut)("is green where the tests' own text skips them, and names them", { timeout: LIMIT_MS }, async () => {
    const after = await judged(together(of(HONEST)));
    expect(inOneWord(after), JSON.stringify(after)).toBe("green");
    const skips = "evidence" in after ? (after.evidence.skips ?? []) : [];
    expect(
      skips.some((id) => /::test_mul$| > multiplies$/.test(id)),
      skips.join(),
    ).toBe(true);
  });
});

function together(cases: readonly Case[]): Case {
  const [first] = cases as [Case];
  const renamed = (files: Files, n: number): Files =>
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        /^(?:package\.json|vitest\.config\.mjs|pytest\.ini)$/.test(path)
          ? path
          : path === "calc.py"
            ? `calc_${n}.py`
            : path.replace(/^(?:tests\/)?/, `c${n}/`).replace("calc.py", `calc_${n}.py`),
        text.replaceAll("from calc ", `from calc_${n} `).replaceAll("from tests.", `from c${n}.`),
      ]),
    );
  const all = (of: (given: Case) => Files): Files =>
    Object.assign({}, ...cases.map((given, n) => renamed(of(given), n))) as Files;
  return { ...first, tests: all(({ tests }) => tests), product: all(({ product }) => product) };
}

async function judged({ command, tests, product }: Case): Promise<Verdict> {
  const { before, after } = await judgedFeature(command, { base: tests, change: product });
  expect(before.is, "the base cannot load its tests").toBe("fail");
  return after;
}
