/** Really runs a script's code, in a folder of its own and bounded: for tests that send the same problems to every sandbox. */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { runProcess } from "../platform/process.ts";
import type { Execute, ExecuteResult } from "./execute.ts";

const RUN_LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 256 * 1024;
const MAX_PRODUCED = 50;
const MAX_PRODUCED_BYTES = 8 * 1024 * 1024;
/** Of any file it writes, in the shell's unit of 512 bytes. */
const FILE_BLOCKS = 131_072;
const TIMED_OUT = "execution_time_exceeded";
const WRAP = `ulimit -f ${FILE_BLOCKS}; out=$1; err=$2; shift 2; exec "$@" >"$out" 2>"$err"`;

export interface Workplace {
  /** A file that was uploaded; repeatable. */
  put(name: string, bytes: Uint8Array): void;
  run(code: Pick<Execute, "language" | "code">): Promise<ExecuteResult>;
  close(): void;
}

export function openWorkplace(): Workplace {
  const root = mkdtempSync(join(tmpdir(), "pawl-sandbox-"));
  const folder = join(root, "work");
  mkdirSync(folder);
  return {
    put: (name, bytes) => writeFileSync(join(folder, name.replaceAll(/[/\\]/g, "_")), bytes),
    async run({ language, code }) {
      const script = join(root, language === "python" ? "code.py" : "code.sh");
      const [out, err] = [join(root, "out"), join(root, "err")];
      writeFileSync(script, code);
      const before = stampsIn(folder);
      const program = language === "python" ? ["python3", script] : ["/bin/bash", script];
      const record = await runProcess({
        command: "/bin/sh",
        args: ["-c", WRAP, "pawl-sandbox", out, err, ...program],
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "", HOME: root, LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
        timeoutMs: RUN_LIMIT_MS,
      });
      if (record.timedOut !== null) return { error: TIMED_OUT };
      return {
        stdout: beginningOf(out),
        stderr: beginningOf(err),
        exitCode: record.exitCode ?? 1,
        files: produced(folder, before),
      };
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

function beginningOf(path: string): string {
  const buffer = Buffer.alloc(MAX_OUTPUT_BYTES);
  const file = openSync(path, "r");
  try {
    return buffer.subarray(0, readSync(file, buffer)).toString("utf8");
  } finally {
    closeSync(file);
  }
}

/** Size and time of each file, by its path. */
function stampsIn(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = statSync(path);
      return [path, `${size} ${mtimeMs}`];
    }),
  );
}

function produced(folder: string, before: ReadonlyMap<string, string>): ExecuteResult["files"] {
  return [...stampsIn(folder)]
    .filter(([path, stamp]) => before.get(path) !== stamp && statSync(path).size <= MAX_PRODUCED_BYTES)
    .slice(0, MAX_PRODUCED)
    .map(([path]) => ({ path: relative(folder, path), base64: readFileSync(path).toString("base64") }));
}
