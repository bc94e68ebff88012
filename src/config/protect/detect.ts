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
  const settings = [...CONFIG, ...used.flatMap(({ files }) => files), ...judging.files];
  const named = namedBySettings(project, settings);
  const plants = asked.commands.map((command) => [command, chainOf(command, project, judging.files)] as const);
  const sections = [...PYTHON_SECTIONS, ...used.flatMap((tool) => tool.sections ?? [])];
  return {
    tests: [
      ...TESTS,
      ...DASHED_TESTS.filter((pattern) => project.holds([pattern], isTestText)),
      ...used.flatMap((tool) => tool.tests ?? []),
      ...judging.tests,
      ...named.tests,
    ],
    config: [
      ...settings,
      ...named.files,
      ...shadows(project),
      ...asked.pathFolders.map(hidden),
      ...asked.protect.map(spelledOut),
    ],
    keys: {
      "**/package.json": [...MANIFEST_KEYS, ...used.flatMap((tool) => tool.keys ?? [])],
      "**/deno.json": ["tasks", "test"],
      "**/composer.json": ["scripts"],
      "**/{pyproject.toml,setup.cfg}": sections,
      "**/Cargo.toml": [...CARGO_SECTIONS],
    },
    except: asked.unprotect.map(spelledOut),
    testChanges: asked.allowTestChanges ? "allow" : "undo",
    plants: Object.fromEntries(plants),
  };
}

/** What the base has of these names is the product's own. */
function shadows({ names }: Project): string[] {
  const isThere = (name: string): boolean => [name, `${name}.py`].some((one) => names.has(one));
  const python = PYTHON_SHADOWS.filter((name) => !isThere(name));
  return [
    `{,{test,tests}/**/}{${python.join(",")}}{.py,.*.so,.so,/__init__.py}`,
    `**/{packages,apps,libs,modules}/{${NODE_SHADOWS.join(",")}}/package.json`,
    ...(names.has("go.mod") ? ["vendor", "go.work", "go.work.sum"] : []),
  ];
}

const hidden = (folder: string): string => `${folder === "" ? "" : `${folder}/`}{${PROGRAMS.join(",")}}`;
