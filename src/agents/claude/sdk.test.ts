import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { claudeWorld } from "../../../test/support/claude.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { UsageError } from "../../errors.ts";
import { claudeAvailable } from "./sdk.ts";

it("finds the program that comes with the SDK, and one by path or name", () => {
  claudeAvailable({ bin: undefined });
  claudeAvailable({ bin: process.execPath });
  claudeAvailable({ bin: "sh" }, { PATH: "/usr/bin:/bin" });
});

it("refuses a program that is not there, with what to do", () => {
  expect(() => claudeAvailable({ bin: "/no/such/claude" })).toThrow(UsageError);
  expect(() => claudeAvailable({ bin: "no-such-claude" }, { PATH: "/usr/bin" })).toThrow("is not a program");
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
