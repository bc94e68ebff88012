/** What every check must hold, whatever it asks: run by the test of each implementation. */
import { describe, expect, it } from "vitest";
import { verdictSchema } from "../../src/events.ts";
import type { Check, JudgeAbout, VerifyTree } from "../../src/ports.ts";
import { noAbout } from "../support/about.ts";
import { taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

/** What a case's tree makes the check meet. */
export type Situation = "green" | "red" | "hanging" | "impossible";

export interface CheckSetup {
  check: Check;
  tree: VerifyTree;
  /** Run id its processes carry, for a look at what is left. */
  run: string;
  /** What it is told beside the tree, where that is its matter. */
  about?: JudgeAbout;
}

/** `impossible`: it cannot judge, e.g. a program is missing. `hanging`: it would answer long after the test. */
export function checkContract(
  name: string,
  make: (situation: Situation) => CheckSetup | Promise<CheckSetup>,
  { noProcess }: { noProcess?: string } = {},
): void {
  const never = () => new AbortController().signal;

  describe(`${name} keeps the contract of a check`, () => {
    it("passes a green tree with evidence of that tree", async () => {
      const { check, tree, about = noAbout } = await make("green");
      const verdict = verdictSchema.parse(await check.judge(tree, never(), about));
      expect(verdict).toMatchObject({ is: "pass", evidence: { tree: tree.tree, isolation: tree.isolation } });
    });

    it("fails a red tree with failures that have names and messages", async () => {
      const { check, tree, about = noAbout } = await make("red");
      const verdict = verdictSchema.parse(await check.judge(tree, never(), about));
      if (verdict.is !== "fail") throw new Error(`expected a fail, got ${JSON.stringify(verdict)}`);
      expect(verdict.evidence.tree).toBe(tree.tree);
      for (const failure of verdict.failures) {
        expect(failure.fingerprint).not.toBe("");
        expect(failure.message).not.toBe("");
      }
      expect(Buffer.byteLength(verdict.excerpt)).toBeLessThanOrEqual(4096);
    });

    it("names the same failure the same way twice, also at the same time", async () => {
      const { check, tree, about = noAbout } = await make("red");
      const verdicts = await Promise.all([check.judge(tree, never(), about), check.judge(tree, never(), about)]);
      const names = verdicts.map((verdict) =>
        verdict.is === "fail" ? verdict.failures.map((f) => f.fingerprint) : [],
      );
      expect(names[0]).not.toEqual([]);
      expect(names[0]).toEqual(names[1]);
    });

    it("says that it could not judge, and why, instead of guessing", async () => {
      const { check, tree, about = noAbout } = await make("impossible");
      const verdict = verdictSchema.parse(await check.judge(tree, never(), about));
      expect(verdict).toMatchObject({ is: "unverifiable", reason: expect.stringMatching(/\S/) });
    });

    it("is unverifiable when aborted in the middle", async () => {
      const { check, tree, about = noAbout } = await make("hanging");
      const verdict = verdictSchema.parse(await check.judge(tree, AbortSignal.timeout(150), about));
      expect(verdict).toMatchObject({ is: "unverifiable", reason: "aborted" });
    });

    it("leaves no process when aborted in the middle", async ({ skip }) => {
      if (noProcess !== undefined) return skip(noProcess);
      const { check, tree, run, about = noAbout } = await make("hanging");
      const stop = new AbortController();
      const going = check.judge(tree, stop.signal, about);
      await waitFor(() => taggedProcesses("PAWL_RUN", run).length > 0, { what: "what it starts" });
      stop.abort();
      expect(await going).toMatchObject({ is: "unverifiable", reason: "aborted" });
      expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
    });

    it("does not begin when it is aborted already", async () => {
      const { check, tree, about = noAbout } = await make("hanging");
      expect(await check.judge(tree, AbortSignal.abort(), about)).toMatchObject({
        is: "unverifiable",
        reason: "aborted",
      });
    });
  });
}
