/**
 * Has the user's own program renew the stored login: it is started for a moment, outside any fence, in an empty folder,
 * without tools or settings, with an address of a model that refuses everything. Before it asks that model it renews
 * what has run out, under its own lock, as it would for the user.
 */
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainHttp } from "../../platform/gateway-upstream.ts";
import { runProcess } from "../../platform/process.ts";

const RENEW_LIMIT_MS = 30_000;
const REFUSAL = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "not here" } });
const ARGUMENTS = ["-p", "ok", "--max-turns", "1", "--tools", "", "--setting-sources", "", "--strict-mcp-config"];

interface About {
  login: Readonly<Record<string, string>>;
  program: string | undefined;
}

/** Never rejects. */
export async function renewLogin({ login, program }: About): Promise<void> {
  if (program === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), "pawl-login-"));
  const server = plainHttp().createServer((request, response) => {
    request.resume();
    response.writeHead(400, { "content-type": "application/json" }).end(REFUSAL);
  });
  try {
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = {
      ...login,
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: folder,
      CLAUDE_CONFIG_DIR: join(folder, "config"),
      ANTHROPIC_BASE_URL: url,
      NO_PROXY: [login["NO_PROXY"] ?? login["no_proxy"], "127.0.0.1"].filter(Boolean).join(","),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
    };
    await runProcess({ command: program, args: ARGUMENTS, cwd: folder, env, timeoutMs: RENEW_LIMIT_MS });
  } catch {
    // The next request's answer tells that the login has run out.
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
