/** Runs of a scripted agent, and what is left of them in the state folder after cleaning. */
import { existsSync, lstatSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, tempRepository } from "../../../test/support/temp.ts";
import { scripted } from "../../agents/scripted.ts";
import { openState } from "../../compose.ts";
import { run } from "../library/run.ts";
import { cleanRuns, type Cleaned, type Cleaning } from "./clean-runs.ts";

const CLAIM = "<promise>COMPLETE</promise>";

function place() {
  const repository = tempRepository({ "a.txt": "one\n" });
  const stateDir = join(tempDir("state"), "pawl");
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: tempDir("home"),
    PAWL_HOME: stateDir,
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const start = (over: { signal?: AbortSignal; onWork?: () => void } = {}) =>
    run({
      goal: "make it two",
      cwd: repository.path,
      environment,
      shortTurn: 0,
      commit: "current",
      agent: scripted(({ n, workspace }) => {
        writeFileSync(join(workspace, "a.txt"), `two ${n} ${Math.random()}\n`);
        over.onWork?.();
        return { text: CLAIM };
      }),
      checks: [{ name: "ok", judge: () => ({ pass: true }) }],
      ...(over.signal === undefined ? {} : { signal: over.signal }),
    });
  const clean = async (over: Partial<Cleaning> & { names?: string[] } = {}): Promise<Cleaned> => {
    const state = openState(environment);
    try {
      const rows = (await state.journal.runs()).filter(({ run: id }) => over.names?.includes(id) ?? true);
      const before = Date.now() + 1_000;
      return await cleanRuns(state, {
        rows,
        named: over.names !== undefined,
        before,
        dryRun: false,
        environment,
        ...over,
      });
    } finally {
      state.close();
    }
  };
  const left = (): string[] => {
    const repos = join(stateDir, "repos");
    const works = readdirSync(repos).flatMap((name) => {
      const runs = join(repos, name, "runs");
      return existsSync(runs) ? readdirSync(runs) : [];
    });
    const runs = join(stateDir, "runs");
    return [...new Set([...(existsSync(runs) ? readdirSync(runs) : []), ...works])].toSorted();
  };
  const bytesOf = (id: string): number =>
    readdirSync(stateDir, { recursive: true, withFileTypes: true })
      .filter((one) => !one.isDirectory() && join(one.parentPath, one.name).includes(`/${id}/`))
      .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
  return { repository, stateDir, start, clean, left, bytesOf };
}

describe("cleaning the state folder", () => {
  it("removes ended runs that are old enough, whole, and says how much that was; the branch stays", async () => {
    const { repository, stateDir, start, clean, left, bytesOf } = place();
    const first = await start();
    await first.outcome;
    const tip = repository.git("rev-parse", "HEAD");
    expect(left()).toEqual([first.id]);
    expect(await clean({ before: Date.now() - 60_000 })).toMatchObject({ removed: [], kept: [] });
    const dry = await clean({ dryRun: true });
    expect(dry.removed).toEqual([{ run: first.id, bytes: bytesOf(first.id) }]);
    expect(dry.bytes).toBeGreaterThan(0);
    expect(left()).toEqual([first.id]);
    const cleaned = await clean();
    expect(cleaned.removed).toEqual(dry.removed);
    expect(cleaned.bytes).toBeGreaterThanOrEqual(dry.removed[0]?.bytes ?? 0);
    expect(left()).toEqual([]);
    expect(
      readdirSync(join(stateDir, "repos")).map((name) => existsSync(join(stateDir, "repos", name, "private.git"))),
    ).toEqual([false]);
    expect(repository.git("rev-parse", "HEAD")).toBe(tip);
    const third = await start();
    expect((await third.outcome).outcome.is).toBe("verified");
  });

  it("keeps a run that has not ended unless it is named, and one that is driven whatever is named", async () => {
    const { start, clean, left } = place();
    const stop = new AbortController();
    let atWork: Promise<Cleaned> | undefined;
    const open = await start({
      signal: stop.signal,
      onWork() {
        atWork = clean({ names: [open.id] });
        stop.abort();
      },
    });
    await expect(open.outcome).rejects.toThrow();
    expect((await atWork)?.kept).toEqual([{ run: open.id, why: `process ${process.pid} drives it` }]);
    expect((await clean()).kept).toEqual([{ run: open.id, why: `it has not ended: pawl resume ${open.id}` }]);
    expect(left()).toEqual([open.id]);
    expect((await clean({ names: [open.id] })).removed).toHaveLength(1);
    expect(left()).toEqual([]);
  });

  it("keeps a run whose work is on no branch, and leaves the others usable when one goes", async () => {
    const { repository, stateDir, start, clean, left } = place();
    const calm = await start();
    await calm.outcome;
    const robbed = await start({
      onWork: () =>
        repository.git("update-ref", "refs/heads/main", repository.git("commit-tree", "-m", "x", "HEAD^{tree}")),
    });
    expect((await robbed.outcome).outcome.is).toBe("needs-human");
    const { removed, kept } = await clean();
    expect(removed.map(({ run: id }) => id)).toEqual([calm.id]);
    expect(kept).toEqual([{ run: robbed.id, why: `its work is on no branch: pawl restore ${robbed.id} --list` }]);
    expect(left()).toEqual([robbed.id]);
    const [only = ""] = readdirSync(join(stateDir, "repos"));
    const refs = repository.git("--git-dir", join(stateDir, "repos", only, "private.git"), "for-each-ref");
    expect([refs.includes(robbed.id), refs.includes(calm.id)]).toEqual([true, false]);
  });
});
