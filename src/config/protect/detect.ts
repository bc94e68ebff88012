/** From what a repository looks like and what its checks run to what an agent may not change there. Pure. */
import { spelledOut } from "../../platform/glob.ts";
import type { ProtectSpec } from "../../spec.ts";
import { chainOf } from "./chain.ts";
import { whatJudges, type Project } from "./commands.ts";
import {
  CARGO_SECTIONS,
  CONFIG,
  DASHED_TESTS,
  MANIFEST_KEYS,
  NODE_SHADOWS,
  PROGRAMS,
  PYTHON_SECTIONS,
  PYTHON_SHADOWS,
  TEST_TEXT,
  TESTS,
  TOOLS,
} from "./layouts.ts";
import { onlyTests } from "./only-tests.ts";
import { namedBySettings } from "./settings-files.ts";

export interface Asked {
  /** Commands of the checks. */
  commands: readonly string[];
  protect: readonly string[];
  unprotect: readonly string[];
  allowTestChanges: boolean;
  /** Folders of the repository that are on PATH, relative; "" is the top. */
  pathFolders: readonly string[];
}

export function detectProtect(project: Project, asked: Asked): ProtectSpec {
  const isTestText = (path: string): boolean => TEST_TEXT.test(project.read(path) ?? "");
  const judging = whatJudges(asked.commands, project);
  const used = TOOLS.filter(({ word }) => word.test(judging.text));
  // What means the top alone means every folder in which a check runs, too.
  const everywhere = (patterns: readonly string[]): string[] => [
    ...patterns,
    ...judging.folders.flatMap((folder) =>
      patterns.filter((pattern) => !pattern.startsWith("**/")).map((pattern) => `${folder}/${pattern}`),
    ),
  ];
  const settings = [...everywhere([...CONFIG, ...used.flatMap(({ files }) => files)]), ...judging.files];
  const named = namedBySettings(project, settings);
  const plants = asked.commands.map((command) => [command, chainOf(command, project, judging.files)] as const);
  const sections = [...PYTHON_SECTIONS, ...used.flatMap((tool) => tool.sections ?? [])];
  const tests = [
    ...everywhere(TESTS),
    ...DASHED_TESTS.filter((pattern) => project.holds([pattern], isTestText)),
    ...used.flatMap((tool) => tool.tests ?? []),
    ...judging.tests,
    ...named.tests,
  ];
  const alone = onlyTests(project, { tests, config: [...settings, ...named.files] });
  return {
    tests: [...tests, ...alone.tests],
    ...(alone.doubtful.length === 0 ? {} : { doubtful: alone.doubtful }),
    config: [
      ...settings,
      ...named.files,
      ...["", ...judging.folders].flatMap((folder) => shadows(project, folder)),
      ...asked.pathFolders.map(hidden),
      ...asked.protect.map(spelledOut),
    ],
    keys: {
      "**/package.json": [...MANIFEST_KEYS, ...used.flatMap((tool) => tool.keys ?? [])],
      "**/deno.{json,jsonc}": ["tasks", "test", "importMap"],
      "**/composer.json": ["scripts", "autoload-dev"],
      "**/{Pipfile,pixi.toml}": ["scripts", "tasks", "activation"],
      "**/{pyproject.toml,setup.cfg}": sections,
      "**/Cargo.toml": [...CARGO_SECTIONS],
    },
    except: asked.unprotect.map(spelledOut),
    testChanges: asked.allowTestChanges ? "allow" : "undo",
    plants: Object.fromEntries(plants),
  };
}

/** What the base has of these names is the product's own. */
function shadows(project: Project, folder: string): string[] {
  const start = folder === "" ? "" : `${folder}/`;
  const here =
    folder === ""
      ? project.names
      : new Set(project.list([folder]).map((path) => path.slice(start.length).split("/")[0]));
  const python = PYTHON_SHADOWS.filter((name) => !here.has(name) && !here.has(`${name}.py`));
  const inFolder = `${start}{,{test,tests}/**/}{${python.join(",")}}{.py,.*.so,.so,/__init__.py}`;
  const go = here.has("go.mod") ? [`${start}vendor`] : [];
  if (folder !== "") return [inFolder, ...go];
  return [inFolder, `**/{packages,apps,libs,modules}/{${NODE_SHADOWS.join(",")}}/package.json`, ...go];
}

const hidden = (folder: string): string => `${folder === "" ? "" : `${folder}/`}{${PROGRAMS.join(",")}}`;
