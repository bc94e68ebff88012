/**
 * The program that does what the model asks for in the workspace, inside the fence: files, search, shell. Plain JavaScript, given
 * to Node as text, so that nothing of pawl's has to be readable there. A JSON line for each call, one for each answer.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { createInterface } from "node:readline";

const WORKSPACE = realpathSync(process.cwd());
const MAX_READ_BYTES = 256 * 1024;
const MAX_READ_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
const MAX_LISTED = 500;
const MAX_WALKED = 20_000;
const MAX_HITS = 200;
const MAX_SEARCHED_BYTES = 1024 * 1024;
/** Of what a command prints, its first and its last part each. */
const OUTPUT_PART_CHARS = 12_000;
/** How long what it started may hold its output open. */
const DRAIN_MS = 500;
const SKIPPED = new Set([".git", "node_modules", ".venv", "__pycache__"]);
const NUL = 0;

const text = (input, name) => {
  if (typeof input[name] !== "string") throw new Error(`${name} must be a text`);
  return input[name];
};
const count = (value, otherwise) => (Number.isInteger(value) && value > 0 ? value : otherwise);
const shown = (path) => relative(WORKSPACE, path) || ".";

/** The nearest that exists decides: a link may lead out. */
function realOf(path) {
  for (let at = path, rest = ""; ; rest = join(at.slice(dirname(at).length), rest), at = dirname(at)) {
    try {
      return join(realpathSync(at), rest);
    } catch {
      if (at === dirname(at)) return path;
    }
  }
}

function inWorkspace(given) {
  const path = resolve(WORKSPACE, given);
  const real = realOf(path);
  if (real !== WORKSPACE && !real.startsWith(WORKSPACE + sep)) throw new Error(`${given} is outside of the workspace`);
  return path;
}

function readText(path) {
  const { size } = statSync(path);
  if (!statSync(path).isFile()) throw new Error("not a file");
  const bytes = readFileSync(path).subarray(0, MAX_READ_BYTES);
  if (bytes.includes(NUL)) throw new Error(`not a text file (${size} bytes)`);
  return { text: bytes.toString("utf8"), cut: size > MAX_READ_BYTES };
}

function read(input) {
  const { text: whole, cut } = readText(resolve(WORKSPACE, text(input, "file_path")));
  const from = count(input.offset, 1);
  const lines = whole.split("\n").slice(from - 1);
  const some = lines.slice(0, count(input.limit, MAX_READ_LINES));
  const numbered = some.map((line, at) => `${from + at}\t${line.slice(0, MAX_LINE_CHARS)}`);
  if (cut || some.length < lines.length) numbered.push("… there is more: read on with offset and limit");
  return numbered.join("\n");
}

function write(input) {
  const path = inWorkspace(text(input, "file_path"));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    input.encoding === "base64" ? Buffer.from(text(input, "content"), "base64") : text(input, "content"),
  );
  return `wrote ${shown(path)}`;
}

function edit(input) {
  const path = inWorkspace(text(input, "file_path"));
  const before = readFileSync(path, "utf8");
  const [from, to] = [text(input, "old_string"), text(input, "new_string")];
  const parts = from === "" ? [] : before.split(from);
  if (parts.length < 2) throw new Error("old_string is not in the file");
  if (parts.length > 2 && input.replace_all !== true)
    throw new Error(`old_string is in the file ${parts.length - 1} times: give more of it, or replace_all`);
  writeFileSync(path, parts.join(to));
  return `changed ${shown(path)}`;
}

function walked(folder) {
  const found = [];
  const left = [folder];
  for (let at = left.pop(); at !== undefined && found.length < MAX_WALKED; at = left.pop()) {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) left.push(join(at, entry.name));
      if (entry.isFile()) found.push(join(at, entry.name));
    }
  }
  return found.toSorted((a, b) => (a < b ? -1 : 1));
}

/** `*` within a name, `**` over folders; without a slash it is about the name alone. */
function matcher(glob) {
  if (typeof glob !== "string" || glob === "") return () => true;
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/\*\*\/?|\*|\?/g, (part) => (part === "*" ? "[^/]*" : part === "?" ? "[^/]" : "(?:.*/)?"));
  const pattern = new RegExp(`^${source}$`);
  return (path) => pattern.test(glob.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1));
}

function filesOf(input) {
  const folder = resolve(WORKSPACE, typeof input.path === "string" ? input.path : ".");
  const fits = matcher(input.glob);
  const files = statSync(folder).isFile() ? [folder] : walked(folder);
  return files.map((path) => [path, isAbsolute(shown(path)) ? path : shown(path)]).filter(([, name]) => fits(name));
}

function list(input) {
  const names = filesOf(input).map(([, name]) => name);
  const more = names.length > MAX_LISTED ? [`… and ${names.length - MAX_LISTED} more`] : [];
  return [...names.slice(0, MAX_LISTED), ...more].join("\n") || "no files";
}

function search(input) {
  const pattern = new RegExp(text(input, "pattern"), input.ignore_case === true ? "i" : "");
  const hits = [];
  for (const [path, name] of filesOf(input)) {
    if (hits.length >= MAX_HITS) break;
    if (statSync(path).size > MAX_SEARCHED_BYTES) continue;
    const bytes = readFileSync(path);
    if (bytes.includes(NUL)) continue;
    for (const [at, line] of bytes.toString("utf8").split("\n").entries())
      if (pattern.test(line)) hits.push(`${name}:${at + 1}:${line.slice(0, MAX_LINE_CHARS)}`);
  }
  const more = hits.length > MAX_HITS ? [`… and more`] : [];
  return [...hits.slice(0, MAX_HITS), ...more].join("\n") || "nothing found";
}

/** Bounded while it grows: the first part stays, of the rest the last. */
function gathering() {
  let first = "";
  let last = "";
  let left = 0;
  return {
    add(data) {
      const chunk = data.replaceAll("\0", "");
      const room = OUTPUT_PART_CHARS - first.length;
      first += chunk.slice(0, room);
      const rest = last + chunk.slice(room);
      left += Math.max(0, rest.length - OUTPUT_PART_CHARS);
      last = rest.slice(-OUTPUT_PART_CHARS);
    },
    whole: () => (left === 0 ? first + last : `${first}\n… ${left} characters …\n${last}`),
  };
}

function kill(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

function bash(input) {
  const command = text(input, "command");
  const limitMs = count(input.limitMs, 1);
  return new Promise((resolve) => {
    const stdio = ["ignore", "pipe", "pipe"];
    const child = spawn("/bin/bash", ["-c", command], { cwd: WORKSPACE, detached: true, stdio });
    const output = gathering();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      kill(child);
    }, limitMs);
    const done = (ok, words) => {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ ok, output: [output.whole().trimEnd(), words].filter((part) => part !== "").join("\n") });
    };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (data) => output.add(data));
    child.on("error", (error) => done(false, error.message));
    child.on("exit", (code, signal) => {
      // What it left in the background would go on after the turn.
      kill(child);
      const ended = () => {
        if (late) done(false, `ended after ${limitMs} ms, its time limit`);
        else done(code === 0, code === 0 ? "" : `exit code ${code ?? signal}`);
      };
      child.on("close", ended);
      setTimeout(ended, DRAIN_MS).unref();
    });
  });
}

const TOOLS = { Read: read, Write: write, Edit: edit, List: list, Search: search, Bash: bash };

async function answer(line) {
  const { id, tool, input } = JSON.parse(line);
  try {
    const result = await TOOLS[tool](input);
    return typeof result === "string" ? { id, ok: true, output: result } : { id, ...result };
  } catch (error) {
    return { id, ok: false, output: String(error?.message ?? error) };
  }
}

const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);
createInterface({ input: process.stdin }).on("line", (line) => void answer(line).then(say));
process.stdin.on("end", () => process.exit(0));
