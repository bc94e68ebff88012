import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { claudeWorld } from "../../../test/support/claude.ts";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import { UsageError } from "../../errors.ts";
import { claudeAvailable, claudeFolders, TESTED, TESTED_PACKAGE, untested } from "./program.ts";

it("finds the program that comes with the SDK, and one by path or name", () => {
  expect(claudeAvailable({}, {})).toMatch(/claude-agent-sdk-[\w-]+\/claude$/);
  expect(claudeAvailable({ bin: process.execPath }, {})).toBe(process.execPath);
  expect(claudeAvailable({ bin: "sh" }, { PATH: "/usr/bin:/bin" })).toMatch(/\/sh$/);
});

it("refuses a program that is not there, with what to do", () => {
  expect(() => claudeAvailable({ bin: "/no/such/claude" }, {})).toThrow(UsageError);
  expect(() => claudeAvailable({ bin: "no-such-claude" }, { PATH: "/usr/bin" })).toThrow("is not a program");
});

it("is tested with the version that comes with the SDK, and says so of every other", () => {
  const sdk = createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk");
  const about = JSON.parse(readFileSync(join(dirname(sdk), "package.json"), "utf8")) as Record<string, string>;
  expect([about["claudeCodeVersion"], about["version"]]).toEqual([TESTED, TESTED_PACKAGE.split("@").at(-1)]);
  expect(untested(`${TESTED} (Claude Code)`)).toBeUndefined();
  expect(untested("2.0.1 (Claude Code)")).toContain("Claude Code 2.0.1 is not the version");
  expect(untested("")).toBeUndefined();
});

it("shows the fence where a program of the PATH really lies, with the packages around it", () => {
  const prefix = realpathSync(tempDir("prefix"));
  writeFiles(prefix, { "lib/node_modules/tool/bin/claude.js": "#!/usr/bin/env node\n" });
  const real = join(prefix, "lib/node_modules/tool/bin/claude.js");
  chmodSync(real, 0o755);
  mkdirSync(join(prefix, "bin"));
  symlinkSync(real, join(prefix, "bin/claude"));
  const folders = claudeFolders({ bin: "claude" }, { PATH: join(prefix, "bin") });
  expect(folders).toEqual(expect.arrayContaining([join(prefix, "bin"), join(prefix, "lib/node_modules"), real]));
});

it("ends the turn as cut when the system refuses to start a process", () => {
  const { request } = claudeWorld({ url: "http://127.0.0.1:9" });
  const script = join(tempDir("fault"), "driver.mjs");
  const limits = { idleTimeoutMs: 5_000, turnTimeoutMs: 5_000, completionGraceMs: 5_000 };
  writeFileSync(
    script,
    `import { claude } from ${JSON.stringify(new URL("../claude.ts", import.meta.url).href)};
     const session = await claude({ userEnvironment: {} }).open(${JSON.stringify(request())});
     const turn = { uuid: "${randomUUID()}", prompt: "go" };
     const events = [];
     for await (const event of session.turn(turn, ${JSON.stringify(limits)}, new AbortController().signal)) events.push(event);
     await session.close();
     console.log(JSON.stringify(events));`,
  );
  const env = { ...process.env, PAWL_FAULT: "spawn:1:EAGAIN" };
  const events = JSON.parse(execFileSync(process.execPath, [script], { env, encoding: "utf8" })) as unknown[];
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ type: "turn-end", outcome: { is: "cut" }, usage: { requests: 0 } });
});
