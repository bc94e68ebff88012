/**
 * Asks test runners for a report without changing the command or what it prints: by environment variables that they, or
 * the Node they run in, read. Every judgement has a folder of its own, outside the tree and with a name nobody can
 * guess, which holds the listeners and what they write.
 */
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Confine } from "../../platform/process.ts";
import { openKits, OUT, type Kits } from "./kit.ts";
import { readReports } from "./read.ts";

/** What the variables' own readers split or expand. */
const PLAIN_PATH = /^[\w@%+=:,./-]+$/;
/** Made before the command runs, to tell what it wrote; itself it is no report. */
const STAMP = `${OUT}/stamp`;

/** Written into the tree by tools that cannot be told another place, by the file that says they are used. */
const IN_TREE: Readonly<Record<string, readonly string[]>> = {
  "pom.xml": ["**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"],
  "build.gradle": ["**/build/test-results/**/TEST-*.xml"],
  "build.gradle.kts": ["**/build/test-results/**/TEST-*.xml"],
};

export interface ReportPlace {
  /** On this machine. */
  folder: string;
  /** The same, as the command sees it. */
  at: string;
  /** For a command that sees this folder of it in its place, and no other's. */
  showing?: (folder: string) => Confine;
}

export interface Asked {
  environment: Readonly<Record<string, string>>;
  /** The words of a shell that runs the command and then takes the reports out of the tree; else only the command. */
  shellWords(command: string): string[];
  /** undefined: as any other command. */
  confine?: Confine | undefined;
  /** Texts of the reports, once nothing of the command runs any more. */
  read(): Promise<string[]>;
  close(): Promise<void>;
}

interface About {
  environment: Readonly<Record<string, string>>;
  tree: string;
  /** Globs of the person's. */
  reports?: readonly string[] | undefined;
  shellName: string;
}

/** Once for a check; what it gives is called once for each judgement. */
export function askingRunners(place: ReportPlace | undefined): (about: About) => Asked {
  if (place === undefined || !PLAIN_PATH.test(place.at))
    return ({ shellName }) => ({
      environment: {},
      shellWords: (command) => alone(command, shellName),
      read: async () => [],
      close: async () => {},
    });
  const { folder, at, showing } = place;
  if (showing === undefined) {
    let kits: Kits | undefined;
    return (about) => askRunners((kits ??= openKits(folder, about.environment["PATH"])), { ...about, at });
  }
  /** Of judgements that have ended. */
  const free: { kits: Kits; confine: Confine }[] = [];
  const made = (own: string, path: string | undefined) => ({ kits: openKits(own, path), confine: showing(own) });
  return (about) => {
    const room = free.pop() ?? made(join(folder, randomUUID()), about.environment["PATH"]);
    const asked = askRunners(room.kits, { ...about, at });
    const close = async (): Promise<void> => {
      await asked.close();
      free.push(room);
    };
    return { ...asked, confine: room.confine, close };
  };
}

const alone = (command: string, shellName: string): string[] => ["-c", command, shellName];

function askRunners(kits: Kits, { environment, tree, reports = [], shellName, at }: About & { at: string }): Asked {
  const kit = kits.take();
  const { folder } = kit;
  const inside = join(at, kit.name);
  const globs = [
    ...reports,
    ...Object.entries(IN_TREE).flatMap(([file, paths]) => (existsSync(join(tree, file)) ? paths : [])),
  ];
  if (globs.length > 0) writeFileSync(join(folder, STAMP), "");
  const withOwn = (variable: string, words: string): string => [environment[variable] ?? "", words].join(" ").trim();
  return {
    environment: {
      // Its programs ask once more where a script sets what follows.
      PATH: [inside, environment["PATH"] ?? ""].join(delimiter),
      NODE_OPTIONS: withOwn("NODE_OPTIONS", `--require=${inside}/preload.cjs`),
      // xunit1 is the one that names the file.
      PYTEST_ADDOPTS: withOwn("PYTEST_ADDOPTS", `--junitxml=${inside}/${OUT}/pytest.xml -o junit_family=xunit1`),
      GOFLAGS: withOwn("GOFLAGS", "-v"),
      PW_TEST_REPORTER: environment["PW_TEST_REPORTER"] ?? `${inside}/playwright-report.cjs`,
    },
    shellWords: (command) =>
      globs.length === 0
        ? alone(command, shellName)
        : [
            "-c",
            COLLECT,
            "pawl-collect",
            command,
            shellName,
            `${inside}/${STAMP}`,
            `${inside}/${OUT}`,
            ...findWords(globs),
          ],
    read: () => readReports(join(folder, OUT)),
    close: () => kits.giveBack(kit),
  };
}

const MAX_COLLECTED = 500;
const MAX_COLLECTED_KIB = 32 * 1024;
/**
 * Inside the fence, where the tree is as the command left it. Only what it wrote: a report that lay there before may be
 * anybody's. `$1` command, `$2` name of its shell, `$3` file made before it ran, `$4` where to, then words of find.
 */
const COLLECT = `
/bin/sh -c "$1" "$2"; code=$?
stamp=$3 out=$4; shift 4
find . -type f -newer "$stamp" -size -${MAX_COLLECTED_KIB}k \\( "$@" \\) 2>/dev/null | head -n ${MAX_COLLECTED} |
  while IFS= read -r file; do n=$((n+1)); cp "$file" "$out/tree-$n" 2>/dev/null; done
exit $code`;

/** find's \`*\` goes over folders too. */
function findWords(globs: readonly string[]): string[] {
  return globs.flatMap((glob, n) => {
    const pattern = `./${glob.replace(/^\.?\//, "").replaceAll(/\*\*\/?/g, "*")}`;
    return [...(n === 0 ? [] : ["-o"]), "-path", pattern];
  });
}
