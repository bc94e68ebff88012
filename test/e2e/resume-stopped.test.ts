/** A run that is gone on with after its driver was killed while it stopped, and after its user had looked elsewhere. */
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { waitFor, writeFiles } from "../support/temp.ts";
import { bash, gate, watchRun } from "../support/watch-run.ts";

it("goes on with a run whose driver was killed after Ctrl-C", async () => {
  const held = gate();
  const place = await cliPlace({
    script: byIteration({
      1: [held.step, { text: "Half." }],
      2: [bash("echo made > made.txt"), { text: CLAIM }],
    }),
  });
  const killed = place.start(["run", "make it", "--check", "test -f made.txt"]);
  await waitFor(() => killed.stderr().includes("→ Bash"), { what: "the tool call" });
  killed.child.kill("SIGINT");
  await waitFor(() => killed.stderr().includes("directive d1 delivered"), { what: "the stop" });
  killed.child.kill("SIGKILL");
  expect((await killed.done).signal).toBe("SIGKILL");
  held.open(place);
  const resumed = await place.pawl("resume");
  expect([resumed.code, resumed.stdout]).toEqual([0, "verified pawl/make-it\n"]);
});

it.each(["auto", "none"])(
  "is refused while another branch is checked out, and nothing has changed: fence %s",
  async (fence) => {
    const place = await cliPlace({
      files: { "tests/t.sh": "test -f out.txt\n" },
      shellAgent: { 1: ["echo half > out.txt", CLAIM], 2: ["echo good > out.txt", CLAIM] },
    });
    const { git, commit, path } = place.repository;
    git("branch", "weaker");
    writeFiles(path, { "tests/t.sh": "grep -q good out.txt\n", "feature.c": "feature\n" });
    commit("a stricter test");
    const flags = ["--check", "sh tests/t.sh", "--fence", fence];
    expect((await place.pawl("run", "write it", ...flags, "--max-iterations", "1")).code).toBe(3);
    const facts = async () => (await place.pawl("logs", "--facts", "--json")).stdout;
    const before = await facts();
    git("switch", "-q", "weaker");
    const refused = await place.pawl("resume", "--max-iterations", "3");
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(
      /^pawl: the workspace is at weaker, but the work of run \S+ is on pawl\/write-it\n {6}Take .*git switch pawl\/write-it.*\n$/,
    );
    expect(await facts()).toBe(before);
    expect(git("status", "--porcelain", "-b")).toBe("## weaker");
    git("switch", "-q", "pawl/write-it");
    expect((await place.pawl("resume", "--max-iterations", "3")).code).toBe(0);
    expect(git("diff", "--stat", "--name-only", "main", "pawl/write-it")).toBe("out.txt");
  },
);

it("is refused with what it was asked to change, which does not wait for the next resume", async () => {
  const held = gate();
  const place = await cliPlace({
    script: byIteration({
      1: [bash("echo half > out.txt"), { text: "Half." }],
      2: [held.step, { text: "Cut off." }],
      3: [{ text: "Again." }],
    }),
  });
  const killed = place.start(["run", "write it", "--check", "false", "--fence", "bwrap", "--max-iterations", "2"]);
  const watched = await watchRun(place);
  await watched.fact("change-accepted");
  await watched.toolRuns(2);
  killed.child.kill("SIGKILL");
  await killed.done;
  held.open(place);
  place.repository.git("switch", "-q", "main");
  expect((await place.pawl("resume", "--max-iterations", "9", "--model", "claude-opus-5-5")).code).toBe(2);
  place.repository.git("switch", "-q", "pawl/write-it");
  const resumed = await place.pawl("resume", "--json");
  expect([resumed.code, resumed.of("directive-received")]).toEqual([3, []]);
});
