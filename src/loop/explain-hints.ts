/** What a model cannot know about the place its code runs in, said when a failure shows that it matters. Pure. */
import type { FailureKind } from "./explain-execution.ts";

const MAX_SEARCHED_CHARS = 4_000;

const HINTS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [
    /gaierror|name resolution|Could not resolve host|\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|Connection ?refused|Network is unreachable|fetch failed|Max retries exceeded|urlopen error/i,
    "There is no network here: work with the files that are in the working folder.",
  ],
  [
    /ModuleNotFoundError|No module named|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)|ImportError/,
    "That library is not installed, and nothing can be installed: use the standard library.",
  ],
  [
    /File too large|EFBIG|No space left|ENOSPC|File size limit/,
    "What it writes is bounded: write less, or delete what is not needed.",
  ],
  [
    /Read-only file system|EROFS|PermissionError|Permission denied|EACCES|EPERM|Operation not permitted/i,
    "Only the working folder and /tmp can be written; other processes and the rest of the machine are out of reach.",
  ],
  [
    /FileNotFoundError|ENOENT|No such file or directory/i,
    "Paths are relative to the working folder; nothing of the machine's other files is there.",
  ],
  [/EOFError|EOF when reading/, "There is no standard input: put every value into the code or a file."],
  [/command not found/, "That program is not installed: use what every system has, or Python."],
];

const BY_KIND: Readonly<Partial<Record<FailureKind, string>>> = {
  timeout: "It loops without end or is too slow: bound every loop, or use a better algorithm.",
  memory: "Its memory is bounded: keep less at once, read files piece by piece.",
  killed: "The system or the code itself ended it; no error was raised.",
};

export function hintFor(kind: FailureKind, text: string): string | undefined {
  const searched = text.slice(0, MAX_SEARCHED_CHARS);
  return BY_KIND[kind] ?? HINTS.find(([pattern]) => pattern.test(searched))?.[1];
}
