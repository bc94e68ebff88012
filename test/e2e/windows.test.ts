/**
 * Windows: pawl runs there inside WSL, and says so elsewhere. No Windows is needed to see either: the first is a Linux
 * with what WSL puts into its environment, and repositories with Windows' line ends.
 */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { tempDir } from "../support/temp.ts";
import { bash } from "../support/watch-run.ts";

const CHECK = ["--check", "made=grep -q right made.txt"];
/** As Node tells a program there. */
const AS_WINDOWS = {
  NODE_OPTIONS: "--import=data:text/javascript,Object.defineProperty(process,'platform',{value:'win32'})",
};

describe("on Windows", () => {
  it.each([["run", "make it", ...CHECK], ["status"], ["--help"]])(
    "pawl %s says in a line that it runs inside WSL, and does nothing",
    async (...args) => {
      const place = await cliPlace({ env: AS_WINDOWS });
      const { code, stdout, stderr } = await place.pawl(...args);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^pawl: on Windows it runs inside WSL only\n {6}wsl --install, .*\n$/);
      expect(existsSync(place.state)).toBe(false);
      expect(place.repository.git("branch", "--list", "pawl/*")).toBe("");
    },
  );
});

describe("inside WSL", () => {
  it("works on a repository with Windows' line ends beside Windows' programs, which the agent cannot call", async () => {
    const windows = join(tempDir("mnt c"), "Program Files", "nodejs");
    mkdirSync(windows, { recursive: true });
    // Whoever took one of these for Linux's own would get no further.
    for (const name of ["git", "node", "npm", "claude", "sh", "bwrap", "git.exe", "cmd.exe"])
      writeFileSync(join(windows, name), "#!/bin/false\r\n", { mode: 0o755 });
    // What starts Windows' programs listens on a socket, whose name is in the environment, and on the machine's vsock.
    const interop = join(tempDir("wsl"), "8_interop");
    let calls = 0;
    const listener = createServer((socket) => socket.destroy(void (calls += 1))).listen(interop);
    onTestFinished(() => void listener.close());
    await once(listener, "listening");
    const call = `import socket
def reach(family, address):
    try: socket.socket(family, socket.SOCK_STREAM).connect(address); print("reached")
    except OSError as error: print(type(error).__name__)
reach(socket.AF_UNIX, ${JSON.stringify(interop)})
reach(40, (2, 50000))`;
    const seen = `echo "interop=$WSL_INTEROP distro=$WSL_DISTRO_NAME" > seen.txt; python3 -c '${call}' >> seen.txt 2>&1`;
    const place = await cliPlace({
      files: { "readme.md": "hello\r\nworld\r\n", Makefile: "all:\n\ttrue\n" },
      script: byIteration({
        1: [bash(`${seen}; printf 'almost\\r\\n' > made.txt`), { text: CLAIM }],
        2: [bash("printf 'right\\r\\n' > made.txt"), { text: CLAIM }],
      }),
    });
    place.repository.git("config", "core.autocrlf", "true");
    const env = {
      PATH: `${place.env["PATH"]}:${windows}`,
      WSL_DISTRO_NAME: "Debian",
      WSL_INTEROP: interop,
      WSLENV: "WT_SESSION::WT_PROFILE_ID",
    };
    const { code, stdout } = await place.start(["run", "make it", ...CHECK], { env }).done;
    expect([code, stdout]).toEqual([0, "verified pawl/make-it\n"]);
    const { git, path } = place.repository;
    expect(git("show", "--stat", "--format=", "main...pawl/make-it", "--", "readme.md", "Makefile")).toBe("");
    expect(readFileSync(join(path, "readme.md"), "latin1")).toBe("hello\r\nworld\r\n");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("show", "pawl/make-it:seen.txt").split("\n")).toEqual([
      "interop= distro=",
      "FileNotFoundError",
      "PermissionError",
    ]);
    expect(calls).toBe(0);
  });
});
