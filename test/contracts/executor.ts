/** What every executor that runs code on this machine keeps: ends with names, files it made, nothing left running. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { emptyFolder, type CodePlace } from "../support/code-place.ts";
import { shownOf, taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";
import { MAX_PRODUCED_FILES, PROGRAM_NAME, type Language } from "../../src/ports/executor.ts";

const MB = 1024 ** 2;
/** Long enough to begin on a busy machine. */
const SHORT_MS = 5_000;

interface Subject {
  open: () => Promise<CodePlace>;
  /** What it cannot do, with the reason. */
  gaps?: Readonly<Partial<Record<"processes", string>>>;
}

/** Of a run; a sandbox that waits for the next program is none yet. */
const programsOf = (run: string): number[] =>
  taggedProcesses("PAWL_RUN", run).filter((pid) => shownOf(pid).includes("PAWL_PROC="));

export function executorContract(name: string, { open, gaps = {} }: Subject): void {
  describe(name, () => {
    let place: CodePlace;
    beforeAll(async () => {
      place = await open();
    });
    afterAll(() => place.close());
    beforeEach(() => emptyFolder(place.folder));

    it.for<[Language, string]>([
      ["python", "import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('made.txt', 'w').write('x')"],
      ["javascript", "console.log('out'); console.error('err'); require('fs').writeFileSync('made.txt', 'x')"],
      [
        "javascript",
        "import { writeFile } from 'node:fs/promises'; console.log('out'); console.error('err'); await writeFile('made.txt', 'x')",
      ],
      [
        "typescript",
        "import { writeFileSync } from 'node:fs'; const text: string = 'out'; console.log(text); console.error('err'); writeFileSync('made.txt', 'x')",
      ],
      ["shell", "echo out; echo err >&2; printf x > made.txt"],
    ])("runs %s: both outputs apart, the file it made, and no trace of the program's own", async ([language, text]) => {
      const execution = await place.run(language, text);
      expect(execution).toEqual({
        end: { is: "exit", code: 0 },
        stdout: { text: "out\n", bytes: 4 },
        stderr: { text: "err\n", bytes: 4 },
        files: [{ path: "made.txt", bytes: 1 }],
        durationMs: expect.any(Number),
      });
      expect(readdirSync(place.folder)).toEqual(["made.txt"]);
    });

    it("lets a program import what lies in its folder, and leaves no cache of it", async () => {
      writeFileSync(join(place.folder, "other.py"), "value = 41\n");
      const { stdout, files } = await place.run("python", "import other\nprint(other.value + 1)");
      expect([stdout.text, files]).toEqual(["42\n", []]);
    });

    it("names exit codes and signals", async () => {
      expect((await place.run("shell", "exit 7")).end).toEqual({ is: "exit", code: 7 });
      expect((await place.run("shell", "kill -9 $$")).end).toEqual({ is: "signal", signal: "SIGKILL" });
      expect((await place.run("python", "import os\nos.abort()")).end).toEqual({ is: "signal", signal: "SIGABRT" });
    });

    it("ends what takes too long, and keeps what it printed before", async () => {
      const script = "echo before; trap '' TERM; while :; do sleep 0.1; done";
      const { end, stdout } = await place.run("shell", script, { timeoutMs: SHORT_MS });
      expect([end, stdout.text]).toEqual([{ is: "timeout", afterMs: SHORT_MS }, "before\n"]);
    });

    it("ends endless output, and keeps the first and the last of it", async () => {
      const outputBytes = 4 * MB;
      const { end, stdout } = await place.run("shell", "echo first; yes 0123456789", { outputBytes });
      expect(end).toEqual({ is: "limit", which: "output", message: "it printed more than 4 MB" });
      expect(stdout.text.length).toBeLessThan(MB);
      expect(stdout.text).toMatch(/^first\n[^]*bytes left out[^]*0123456789/);
      expect(stdout.bytes).toBeGreaterThan(outputBytes);
    });

    it.for<[Language, string]>([
      ["python", "x = []\nwhile True: x.append('x' * 1000000)"],
      ["javascript", "const x = []; while (true) x.push(new Array(100_000).fill(1.5))"],
    ])("names memory as what %s ran out of", async ([language, text]) => {
      const { end } = await place.run(language, text, { memoryBytes: 128 * MB });
      expect(end).toEqual({ is: "limit", which: "memory", message: "it used more than 128 MB of memory" });
    });

    it.for<[Language, string]>([
      ["python", "open('big', 'wb').write(bytes(20_000_000))"],
      ["javascript", "require('fs').writeFileSync('big', Buffer.alloc(20_000_000))"],
      ["shell", "head -c 20000000 /dev/zero > big"],
      ["shell", "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do head -c 1000000 /dev/zero > big$n; done"],
    ])("names the disk as what %s filled", async ([language, text]) => {
      const { end } = await place.run(language, text, { diskBytes: 8 * MB });
      expect(end).toEqual({ is: "limit", which: "disk", message: "it wrote more than 8 MB" });
    });

    it.skipIf(gaps.processes !== undefined)("holds a bounded fork bomb, and names it", async () => {
      const bomb =
        "import os, time\nfor n in range(200):\n    if os.fork() == 0:\n        time.sleep(2)\n        os._exit(0)";
      const { end } = await place.run("python", bomb, { processes: 8 });
      expect(end).toEqual({ is: "limit", which: "processes", message: "it started more than 8 processes" });
    });

    it("follows no link, leaves out what is no file, and says so", async () => {
      const { files, notes } = await place.run(
        "shell",
        "ln -s / everything; ln -s /etc/passwd users; mkfifo pipe; mkdir -p a/b; echo x > a/b/c; mkdir .git; echo x > .git/config",
      );
      expect(files).toEqual([{ path: "a/b/c", bytes: 2 }]);
      expect(notes?.toSorted()).toEqual([
        expect.stringMatching(/^links are left out: .*"everything"/),
        'pipes, sockets and devices are left out: "pipe"',
      ]);
    });

    it("lists a bounded number of files, those that changed", async () => {
      mkdirSync(join(place.folder, "old"));
      writeFileSync(join(place.folder, "old/same"), "x");
      writeFileSync(join(place.folder, "old/other"), "x");
      const { files, notes } = await place.run(
        "shell",
        "n=0; while [ $n -lt 149 ]; do : > f$n; n=$((n+1)); done; echo y > old/other; touch -r old/same old/other",
      );
      expect(files).toHaveLength(MAX_PRODUCED_FILES);
      expect(notes).toEqual(["50 more files are not listed"]);
      expect((await place.run("shell", "printf z > old/other; touch -r old/same old/other")).files).toEqual([
        { path: "old/other", bytes: 1 },
      ]);
    });

    it("is not led elsewhere by a link in place of its program", async () => {
      const target = join(place.root, "elsewhere");
      for (const ending of ["py", "js", "ts", "sh"])
        symlinkSync(target, join(place.folder, `${PROGRAM_NAME}.${ending}`));
      expect((await place.run("shell", "echo ok")).stdout.text).toBe("ok\n");
      expect(existsSync(target)).toBe(false);
    });

    it("leaves no process behind, whatever session it moved to", async () => {
      const { end } = await place.run("shell", "(setsid sleep 77 &); sleep 78 & (sleep 79 &); exit 0");
      expect(end).toEqual({ is: "exit", code: 0 });
      expect(programsOf(place.name)).toEqual([]);
    });

    it("ends at once when it is told to, and says that it was", async () => {
      const stop = new AbortController();
      const running = place.run("shell", "echo on; touch begun; sleep 30", {}, stop.signal);
      await waitFor(() => existsSync(join(place.folder, "begun")), { what: "the program" });
      stop.abort();
      const { end, stdout } = await running;
      expect(end).toEqual({ is: "unavailable", reason: "it was stopped from outside before its end" });
      expect(stdout.text).toBe("on\n");
      expect(programsOf(place.name)).toEqual([]);
    });

    it("runs one program at a time in a folder", async () => {
      const [first, second] = await Promise.all([
        place.run("shell", "sleep 0.3; echo x > one"),
        place.run("python", "open('two', 'w').write('x')"),
      ]);
      expect([first.files, second.files].map((files) => files.map(({ path }) => path))).toEqual([["one"], ["two"]]);
    });

    it("answers with an end where it cannot even begin", async () => {
      const nowhere = join(place.folder, "nowhere");
      const about = { folder: nowhere, limits: place.limits };
      const { end } = await place.executor.run({ language: "shell", text: "" }, about, new AbortController().signal);
      expect(end).toMatchObject({ is: "unavailable", reason: expect.stringContaining("could not be run") });
    });
  });
}
