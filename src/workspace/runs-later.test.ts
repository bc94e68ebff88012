import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { runsLater } from "./runs-later.ts";

describe("a path that runs later", () => {
  it.each([
    ".npmrc",
    "packages/a/.npmrc",
    ".envrc",
    ".vscode/settings.json",
    ".VSCode/tasks.json",
    ".idea/x.xml",
    ".claude/settings.json",
    ".mcp.json",
    "CLAUDE.md",
    "docs/agents.md",
    "opencode.json",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    ".github/workflows/ci.yml",
    ".git/hooks/post-commit",
    "a.code-workspace",
    ".cargo/config.toml",
    "tools/.bashrc",
  ])("%s is one", (path) => {
    expect(runsLater(path)).toBe(true);
  });

  it.each(["src/index.ts", "package.json", ".github/ISSUE_TEMPLATE.md", "claude.ts", "vscode/x.json", ".gitignore"])(
    "%s is none",
    (path) => {
      expect(runsLater(path)).toBe(false);
    },
  );
});

describe("a snapshot", () => {
  const AT = 1_700_000_000_000;
  let place: Scratch;
  beforeEach(() => {
    place = scratch();
  });
  afterEach(() => place.remove());
  const take = { parent: null, message: "m", at: AT };

  it("flags changed files of that kind, also ignored ones and links, and each change once", async () => {
    place.write(".gitignore", ".envrc\n.claude/\n");
    place.write(".npmrc", "a=1\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "settings");
    place.write(".envrc", "before\n");
    const workspace = await openFor(place);
    await workspace.prepare();
    expect((await workspace.snapshot(1, take)).flagged).toEqual([]);
    appendFileSync(join(place.repo, ".envrc"), "more\n");
    place.write(".claude/settings.json", "{}");
    symlinkSync("/etc/passwd", join(place.repo, ".claude/link"));
    place.write("sub/AGENTS.md", "do\n");
    place.write("src/plain.txt", "x\n");
    const { flagged } = await workspace.snapshot(2, { ...take, parent: 1 });
    expect(flagged).toEqual([".claude/link", ".claude/settings.json", ".envrc", "sub/AGENTS.md"]);
    expect((await workspace.snapshot(3, { ...take, parent: 2 })).flagged).toEqual([]);
    await workspace.close();
  });

  it("flags the user's git hooks and settings where no fence keeps them out of reach", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    await workspace.snapshot(1, take);
    mkdirSync(join(place.repo, ".git/hooks"), { recursive: true });
    writeFileSync(join(place.repo, ".git/hooks/post-commit"), "#!/bin/sh\n");
    place.git("config", "core.fsmonitor", "x");
    const { flagged } = await workspace.snapshot(2, { ...take, parent: 1 });
    expect(flagged).toEqual([".git/config", ".git/hooks/post-commit"]);
    await workspace.close();
  });
});
