/**
 * No way for a repository that an agent wrote to run code through pawl's git: every plant known to work on plain git,
 * against everything pawl does after a turn. A canary file tells.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { treeHash } from "../../test/support/tree-hash.ts";

const AT = 1_700_000_000_000;
let place: Scratch;
let canaries: string;

beforeEach(() => {
  place = scratch();
  canaries = join(place.root, "canaries");
  mkdirSync(canaries);
});
afterEach(() => place.remove());

/** A program outside the workspace that leaves a mark of that name and passes its input through. */
function evil(name: string): string {
  const path = join(canaries, `run ${name}`.replaceAll(/[^a-z0-9]+/gi, "-"));
  writeFileSync(path, `#!/bin/sh\ntouch "$0.ran"\ncat\n`, { mode: 0o755 });
  return path;
}
const ran = () => readdirSync(canaries).filter((name) => name.endsWith(".ran"));
const config = (key: string, value: string) => place.git("config", key, value);
const attributes = (text: string) => appendFileSync(join(place.repo, ".gitattributes"), `${text}\n`);
const hook = (name: string, dir = ".git/hooks") => {
  mkdirSync(join(place.repo, dir), { recursive: true });
  writeFileSync(join(place.repo, dir, name), `#!/bin/sh\n${evil(`${dir} ${name}`)} </dev/null\n`, { mode: 0o755 });
};
const nested = (setUp: (dir: string) => void) => {
  const dir = join(place.repo, "nested");
  mkdirSync(dir);
  place.gitIn(dir, "init", "-q");
  writeFileSync(join(dir, "f.txt"), "x\n");
  setUp(dir);
};

/** Every plant has a mark of its own, so those that do not hide each other share a workspace. */
const PLANTS: Record<string, Record<string, () => void>> = {
  "in the settings": {
    "core.fsmonitor": () => config("core.fsmonitor", evil("fsmonitor")),
    "filter clean": () => {
      config("filter.c.clean", evil("clean"));
      attributes("c.txt filter=c");
    },
    "filter smudge": () => {
      config("filter.s.smudge", evil("smudge"));
      attributes("s.txt filter=s");
    },
    "filter process": () => {
      config("filter.p.process", evil("process"));
      attributes("p.txt filter=p");
    },
    "filter by info/attributes": () => {
      config("filter.i.clean", evil("info clean"));
      config("filter.i.smudge", evil("info smudge"));
      writeFileSync(join(place.repo, ".git/info/attributes"), "a.txt filter=i\n");
    },
    textconv: () => {
      config("diff.t.textconv", evil("textconv"));
      attributes("t.txt diff=t");
    },
    "diff driver": () => {
      config("diff.d.command", evil("diff driver"));
      attributes("d.txt diff=d");
    },
    "diff.external": () => config("diff.external", evil("diff external")),
    "merge driver": () => {
      config("merge.m.driver", `${evil("merge")} %O %A %B`);
      attributes("m.txt merge=m");
    },
    "gpg.program": () => {
      config("gpg.program", evil("gpg"));
      config("commit.gpgSign", "true");
    },
    "core.editor": () => config("core.editor", evil("editor")),
    "core.pager": () => config("core.pager", evil("pager")),
    "aliases of builtins": () =>
      ["ls-files", "update-index", "update-ref"].forEach((name) =>
        config(`alias.${name}`, `!${evil(`alias ${name}`)}`),
      ),
    "credential.helper": () => config("credential.helper", `!${evil("credential")}`),
    "core.askPass": () => config("core.askPass", evil("askpass")),
    "core.alternateRefsCommand": () => config("core.alternateRefsCommand", evil("alternate refs")),
    "core.hooksPath": () => {
      for (const name of ["post-index-change", "reference-transaction"]) hook(name, "hooks");
      config("core.hooksPath", join(place.repo, "hooks"));
    },
  },
  "as hooks": {
    "post-index-change": () => hook("post-index-change"),
    "reference-transaction": () => hook("reference-transaction"),
    "pre-commit, post-commit, post-checkout": () =>
      ["pre-commit", "post-commit", "post-checkout"].forEach((name) => hook(name)),
  },
  "as settings from elsewhere": {
    "include.path": () => {
      writeFileSync(join(place.repo, ".git/more"), `[core]\n\tfsmonitor = ${evil("include")}\n`);
      config("include.path", "more");
    },
    "worktree config": () => {
      config("extensions.worktreeConfig", "true");
      writeFileSync(join(place.repo, ".git/config.worktree"), `[core]\n\tsshCommand = ${evil("worktree config")}\n`);
    },
    "a partial clone with an ext:: remote": () => {
      config("protocol.ext.allow", "always");
      config("remote.origin.url", `ext::${evil("ext")}`);
      config("remote.origin.promisor", "true");
      config("extensions.partialClone", "origin");
    },
  },
  "as a git file that points into the tree": {
    "gitfile swap": () => {
      renameSync(join(place.repo, ".git"), join(place.repo, "real"));
      place.gitIn(place.repo, "--git-dir=real", "config", "core.fsmonitor", evil("gitfile"));
      writeFileSync(join(place.repo, ".git"), "gitdir: real\n");
    },
  },
  "as repositories and programs in the tree": {
    "a bare repository": () => {
      place.gitIn(place.repo, "init", "-q", "--bare", "bare");
      // With a work tree, or git would refuse to look for changes there and run nothing.
      place.gitIn(join(place.repo, "bare"), "config", "core.bare", "false");
      place.gitIn(join(place.repo, "bare"), "config", "core.fsmonitor", evil("bare"));
      place.gitIn(join(place.repo, "bare"), "config", "core.worktree", "..");
    },
    "a nested repository with a filter of its own": () =>
      nested((dir) => {
        for (const key of ["clean", "smudge", "process"])
          place.gitIn(dir, "config", `filter.x.${key}`, evil(`nested ${key}`));
        place.gitIn(dir, "config", "core.fsmonitor", evil("nested fsmonitor"));
        writeFileSync(join(dir, ".gitattributes"), "* filter=x\n");
      }),
    "a git program": () => {
      writeFileSync(join(place.repo, "git"), `#!/bin/sh\n${evil("git")} </dev/null\n`);
      chmodSync(join(place.repo, "git"), 0o755);
    },
  },
  "as a submodule": {
    "an update command and recursion": () => {
      nested((dir) => {
        place.gitIn(dir, "add", "-A");
        place.gitIn(dir, "commit", "-qm", "n");
        place.gitIn(dir, "config", "core.fsmonitor", evil("submodule"));
        place.gitIn(dir, "config", "filter.x.clean", evil("submodule clean"));
        writeFileSync(join(dir, ".gitattributes"), "* filter=x\n");
      });
      place.git("add", "nested");
      place.git("commit", "-qm", "with a submodule");
      const url = `ext::${evil("submodule url")}`;
      writeFileSync(join(place.repo, ".gitmodules"), `[submodule "nested"]\n\tpath = nested\n\turl = ${url}\n`);
      config("submodule.nested.update", `!${evil("submodule update")}`);
      config("submodule.recurse", "true");
    },
  },
};
/** Once it has run what was planted, a fetch is ended: that only gives back what it hears, and both would wait for ever. */
const fetching = (from: string): string =>
  `timeout 100 git fetch ${from} & until ls ../canaries/*.ran; do sleep 0.05; done; kill $!`;
/** A plant, what makes plain git run it without leaving the machine, and the mark that it leaves then. */
const CONTROLS: [plant: string, script: string, mark: string][] = [
  ["core.fsmonitor", "git status", "fsmonitor"],
  ["filter clean", "echo x > c.txt; git add -A", "clean"],
  ["filter smudge", "echo x > s.txt; git add -A; rm s.txt; git checkout s.txt", "smudge"],
  ["filter process", "echo x > p.txt; git add -A", "process"],
  ["filter by info/attributes", "echo x > a.txt; git add -A", "info-clean"],
  ["textconv", "echo x > t.txt; git add -A; git diff --cached", "textconv"],
  ["diff driver", "echo x > d.txt; git add -A; git diff --cached", "diff-driver"],
  ["diff.external", "echo x > a.txt; git diff", "diff-external"],
  [
    "merge driver",
    `say() { echo $1 > m.txt; git add -A; git commit -qm $1; }
     say base; git checkout -qb other; say theirs; git checkout -q -; say ours; git merge -q other`,
    "merge",
  ],
  ["gpg.program", "git commit --allow-empty -qm x", "gpg"],
  ["core.editor", "unset GIT_EDITOR EDITOR VISUAL; git commit --allow-empty", "editor"],
  ["core.pager", "unset GIT_PAGER PAGER; TERM=xterm script -qec 'git log' /dev/null", "pager"],
  ["credential.helper", "echo url=http://127.0.0.1/x | git credential fill", "credential"],
  ["core.askPass", "unset GIT_ASKPASS; echo url=http://127.0.0.1/x | git credential fill", "askpass"],
  [
    "core.alternateRefsCommand",
    `git clone -q --bare . ../canaries/other; echo "$PWD/../canaries/other/objects" > .git/objects/info/alternates
     printf 0000 | git receive-pack .`,
    "alternate-refs",
  ],
  ["core.hooksPath", "echo x > a.txt; git add -A", "hooks-post-index-change"],
  ["post-index-change", "echo x > a.txt; git add -A", "git-hooks-post-index-change"],
  ["reference-transaction", "git branch more", "git-hooks-reference-transaction"],
  ["pre-commit, post-commit, post-checkout", "git commit --allow-empty -qm x", "git-hooks-pre-commit"],
  ["include.path", "git status", "include"],
  ["worktree config", `unset GIT_SSH_COMMAND GIT_SSH; ${fetching("ssh://127.0.0.1/x")}`, "worktree-config"],
  ["a partial clone with an ext:: remote", fetching("origin"), "ext"],
  ["gitfile swap", "git status", "gitfile"],
  ["a bare repository", "cd bare; git status", "bare"],
  ["a nested repository with a filter of its own", "cd nested; git add -A", "nested-fsmonitor"],
  ["a git program", 'PATH="$PWD:$PATH"; git status', "git"],
  ["an update command and recursion", "git status", "submodule"],
];
/** Git ignores an alias that has the name of a command of its own; older ones may not have. */
const IN_NO_PLAIN_GIT = ["aliases of builtins"];
const COUNT = Object.values(PLANTS).flatMap((group) => Object.keys(group)).length;

describe(`none of ${COUNT} plants runs code (A1, A2)`, () => {
  it.each(Object.entries(PLANTS))("%s", async (_, plants) => {
    const environment = { ...place.environment, PATH: `${place.repo}:.:${place.environment["PATH"]}` };
    const workspace = await openFor({ ...place, environment });
    const base = await workspace.prepare();
    // Every file must be read and written again, or a filter would have no reason to run.
    for (const name of ["a", "c", "s", "p", "t", "d", "m"]) place.write(`${name}.txt`, "by the agent\n");
    for (const plant of Object.values(plants)) plant();
    for (const name of ran()) rmSync(join(canaries, name));
    const later = await openFor({ ...place, environment });
    await later.prepare();
    const taken = await later.snapshot(1, { parent: null, message: "m", at: AT });
    await later.diff(base.tree, taken.tree, 100_000);
    await (await later.verifyTree(taken.judged)).release();
    await later.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 1 });
    await later.restore(0, { salvage: "1", at: AT });
    await later.restore(1, { salvage: "2", at: AT });
    place.write("a.txt", "again\n");
    const again = await later.snapshot(2, { parent: 1, message: "m", at: AT });
    await (await later.verifyTree(again.judged)).release();
    await later.accept({ tree: again.judged, message: "m2", at: AT, snapshot: 2 });
    await later.close();
    expect(again.files.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(ran()).toEqual([]);
  });

  it.each(CONTROLS)("and plain git runs it: %s", (plant, script, mark) => {
    for (const group of Object.values(PLANTS)) group[plant]?.();
    for (const name of ran()) rmSync(join(canaries, name));
    // Whether git is content with what was planted does not matter.
    spawnSync("/bin/sh", ["-c", script], {
      cwd: place.repo,
      env: place.environment,
      stdio: "ignore",
      timeout: 120_000,
    });
    expect(ran()).toContain(`run-${mark}.ran`);
  });

  it("and each plant has such a control, or a reason why there is none", () => {
    const controlled = new Set([...CONTROLS.map(([plant]) => plant), ...IN_NO_PLAIN_GIT]);
    expect(new Set(Object.values(PLANTS).flatMap((group) => Object.keys(group)))).toEqual(controlled);
  });
});

describe("outside the declared places", () => {
  it("nothing changes over a whole run, and /dev/null stays a device (A20)", async () => {
    const before = treeHash(place.home);
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("a.txt", "changed\n");
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await (await workspace.verifyTree(taken.judged)).release();
    await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 1 });
    await workspace.restore(0, { salvage: "1", at: AT });
    await workspace.close();
    expect(treeHash(place.home)).toBe(before);
    expect(readdirSync(place.root).toSorted()).toEqual(["canaries", "home", "repo", "state"]);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    expect(
      readdirSync(join(place.repo, ".git")).filter((name) => name.includes("pawl") || name.endsWith(".lock")),
    ).toEqual([]);
  });
});
