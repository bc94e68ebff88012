import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { keptLogin } from "./kept-login.ts";

const HOUR_MS = 3_600_000;

function store(claudeAiOauth: Record<string, unknown>): { folder: string; file: string } {
  const folder = join(tempDir("store"), ".claude");
  mkdirSync(folder);
  const file = join(folder, ".credentials.json");
  writeFileSync(file, JSON.stringify({ claudeAiOauth }));
  return { folder, file };
}
const login = (folder: string) => ({ CLAUDE_SECURESTORAGE_CONFIG_DIR: folder });
const nobody = () => undefined;

describe("a login that stays outside", () => {
  it("is a token of the environment", () => {
    const kept = keptLogin({ login: { CLAUDE_CODE_OAUTH_TOKEN: "secret" }, program: nobody });
    expect(kept?.bearer()).toBe("secret");
    expect(kept?.environment("own")).toEqual({ CLAUDE_CODE_OAUTH_TOKEN: "own" });
  });

  it("is what the user stored, with what is not secret of it for the program", async () => {
    const about = { subscriptionType: "max", rateLimitTier: "t", refreshToken: "r", scopes: ["user:inference"] };
    const { folder, file } = store({ accessToken: "first", expiresAt: Date.now() + HOUR_MS, ...about });
    const kept = keptLogin({ login: login(folder), program: nobody });
    expect(kept?.bearer()).toBe("first");
    expect(kept?.environment("own")).toEqual({
      CLAUDE_CODE_OAUTH_TOKEN: "own",
      CLAUDE_CODE_SUBSCRIPTION_TYPE: "max",
      CLAUDE_CODE_RATE_LIMIT_TIER: "t",
    });
    writeFileSync(file, JSON.stringify({ claudeAiOauth: { accessToken: "renewed elsewhere" } }));
    await kept?.ready();
    expect(kept?.bearer()).toBe("renewed elsewhere");
    writeFileSync(file, "{ half");
    expect(kept?.bearer()).toBe("renewed elsewhere");
  });

  it("is renewed by the user's own program when it runs out, once, with nothing of the agent's", async () => {
    const { folder, file } = store({ accessToken: "old", expiresAt: Date.now() - 1, refreshToken: "r" });
    const seen = join(folder, "seen");
    const program = join(folder, "claude");
    const renewed = JSON.stringify({ claudeAiOauth: { accessToken: "new", expiresAt: Date.now() + HOUR_MS } });
    writeFileSync(
      program,
      `#!/bin/sh\necho "$@" >> ${seen}; env >> ${seen}; ls -A >> ${seen}; printf '%s' '${renewed}' > ${file}\n`,
      { mode: 0o755 },
    );
    const kept = keptLogin({ login: login(folder), program: () => program });
    await Promise.all([kept?.ready(), kept?.ready(), kept?.ready()]);
    expect(kept?.bearer()).toBe("new");
    const told = readFileSync(seen, "utf8");
    expect(told.match(/^-p ok /gm)).toHaveLength(1);
    expect(told).toMatch(/^ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
    expect(told).toContain(`CLAUDE_SECURESTORAGE_CONFIG_DIR=${folder}\n`);
    expect(told).not.toMatch(/^PAWL_RUN=/m);
  });

  it("stays as it is when it cannot be renewed", async () => {
    const { folder } = store({ accessToken: "old", expiresAt: Date.now() - 1 });
    const kept = keptLogin({ login: login(folder), program: () => join(folder, "missing") });
    await kept?.ready();
    expect(kept?.bearer()).toBe("old");
  });

  it("is none without a token", () => {
    expect(keptLogin({ login: {}, program: nobody })).toBeUndefined();
    expect(keptLogin({ login: login(tempDir("empty")), program: nobody })).toBeUndefined();
    expect(keptLogin({ login: login(store({ accessToken: "" }).folder), program: nobody })).toBeUndefined();
  });
});
