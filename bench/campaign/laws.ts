/** The property tests with cases that nobody has seen: every round draws from a seed of its own. */
import { runTests, type Part } from "./part.ts";

/** Rounds of one seed are always the same; another `seed` gives others. */
export const laws: Part = {
  name: "laws",
  about: "the property tests again and again, each round with cases of its own",
  shows: "laws of the kernel",
  counts: { rounds: 20, seed: 1 },
  run: async ({ rounds = 0, seed = 1 }) => {
    const wrongs: unknown[] = [];
    let passed = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const drawn = seed * 1_000 + round;
      const result = await runTests(["test/laws"], { PAWL_LAWS_SEED: String(drawn) });
      passed += Number(result["passed"]);
      wrongs.push(...result.wrongs.map((wrong) => ({ seed: drawn, wrong })));
    }
    return { passed, wrongs };
  },
};
