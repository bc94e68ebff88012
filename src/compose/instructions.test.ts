import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, tempRepository } from "../../test/support/temp.ts";
import { frozenInstructions } from "./instructions.ts";

const place = (repository: string, commit: string | null, file = join(tempDir("run"), "deep", "instructions.md")) => ({
  file,
  keep: true,
  repository,
  commit,
  env: process.env,
});

it("reads the base's files, not the work tree's, and keeps them for whoever drives again", async () => {
  const repository = tempRepository({ "AGENTS.md": "Be brief.\n", "CLAUDE.md": "Be kind.\n", "sub/CLAUDE.md": "no\n" });
  const base = repository.git("rev-parse", "HEAD");
  const request = place(repository.path, base);
  repository.commit("later", { "AGENTS.md": "Be rude.\n" });
  const text = await frozenInstructions(request);
  expect(text).toContain("# AGENTS.md of this repository\n\nBe brief.");
  expect(text).toContain("# CLAUDE.md of this repository\n\nBe kind.");
  expect(text).not.toMatch(/rude|no\n/);
  expect(await frozenInstructions({ ...request, commit: repository.git("rev-parse", "HEAD") })).toBe(text);
});

it("leaves links out, cuts long files and says so, and has nothing to say without a commit", async () => {
  const repository = tempRepository({ "AGENTS.md": "x".repeat(100_000) });
  symlinkSync("AGENTS.md", join(repository.path, "CLAUDE.md"));
  const commit = repository.commit("link");
  const text = await frozenInstructions(place(repository.path, commit));
  expect(text).not.toContain("CLAUDE.md");
  expect(text.length).toBeLessThan(33_000);
  expect(text).toContain("[… cut: 100000 bytes]");
  expect(await frozenInstructions(place(tempRepository().path, null))).toBe("");
});
