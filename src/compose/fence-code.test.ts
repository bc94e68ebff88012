/** What the fence of generated code lets through, and what it leaves out. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codePlace, type CodePlace } from "../../test/support/code-place.ts";
import { tempDir } from "../../test/support/temp.ts";

async function within<T>(place: CodePlace, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } finally {
    await place.close();
  }
}

it("lets code reach the hosts that the run allows, and no other", async () => {
  const servers = await Promise.all(
    ["allowed", "closed"].map(async (words) => {
      const server = createServer((_, response) => response.end(words)).listen(0, "127.0.0.1");
      await once(server, "listening");
      return { server, port: (server.address() as AddressInfo).port };
    }),
  );
  const [open, closed] = servers.map(({ port }) => port);
  const place = await codePlace(tempDir("code"), { hosts: [`localhost:${open}`] });
  const { stdout, end } = await within(place, () =>
    place.run(
      "python",
      `import os, urllib.request
def read(port):
    try: return urllib.request.urlopen(f"http://localhost:{port}/", timeout=60).read().decode()
    except OSError as e: return "refused"
print(read(${open}), read(${closed}), sorted(os.listdir("/run/pawl")))`,
      { timeoutMs: 150_000 },
    ),
  );
  for (const { server } of servers) server.close();
  expect([stdout.text, end]).toEqual(["allowed refused ['egress']\n", { is: "exit", code: 0 }]);
});

it("shows no socket where no host is allowed, so that the model cannot be asked", async () => {
  const place = await codePlace(tempDir("code"));
  const { sockets } = place.fence;
  writeFileSync(join(sockets?.folder ?? "", "model"), "");
  const { stdout } = await within(place, () => place.run("shell", "ls /run; ls /run/pawl 2>/dev/null; echo end"));
  expect(stdout.text).toBe("end\n");
});

it("shows of a folder below the workspace that folder alone, writable, and an empty repository", async () => {
  const place = await codePlace(tempDir("code"));
  const folder = join(place.folder, "steps/one");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git/config"), "own");
  writeFileSync(join(place.folder, "answer.txt"), "of the run");
  const text = "ls -A .git; cat ../../answer.txt; echo x > .git/config; echo x > ../../answer.txt; echo made > made";
  const { files, stdout } = await within(place, () =>
    place.executor.run({ language: "shell", text }, { folder, limits: place.limits }, new AbortController().signal),
  );
  expect([files, stdout.text]).toEqual([[{ path: "made", bytes: 5 }], ""]);
});

it("holds an execution no looser than the run", async () => {
  const place = await codePlace(tempDir("code"), { memoryBytes: 64 * 1024 ** 2 });
  const { end } = await within(place, () =>
    place.run("python", "x = bytearray(200 << 20)", { memoryBytes: 1024 ** 3 }),
  );
  expect(end).toMatchObject({
    is: "limit",
    which: "memory",
    message: expect.stringMatching(/(64 MB|1 GB) of memory$/),
  });
});

it("tells a fence that cannot start a program from the program's own failure", async () => {
  const place = await codePlace(tempDir("code"));
  const { end } = await within(place, async () => {
    const { localExecutor } = await import("../executors/local.ts");
    const bin = join(place.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "python3"), "\x7fELF not seen inside", { mode: 0o755 });
    const executor = localExecutor({ environment: { PATH: bin }, confine: place.fence.code });
    const about = { folder: place.folder, limits: place.limits };
    return await executor.run({ language: "python", text: "" }, about, new AbortController().signal);
  });
  expect(end).toMatchObject({ is: "unavailable", reason: expect.stringContaining("the fence could not start it") });
});
