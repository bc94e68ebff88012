/** How a run judges where its specification says nothing: also runs of before there was a choice. */
import type { ProtectSpec, VerdictSpec } from "./spec.ts";

export const NOTHING_PROTECTED: ProtectSpec = { tests: [], config: [], keys: {}, except: [], testChanges: "undo" };

export const PLAIN_VERDICTS: VerdictSpec = {
  combine: "veto",
  threshold: 0.7,
  preExisting: "require",
  reruns: 0,
  passes: 1,
  control: "off",
  quarantine: [],
};

/** Files that decide which dependencies a project has, by name. */
export const LOCKFILES: readonly string[] = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "requirements*.txt",
  "poetry.lock",
  "uv.lock",
  "Pipfile.lock",
  "go.sum",
  "Cargo.lock",
  "Gemfile.lock",
  "composer.lock",
];

/** What `--setup` goes by where nothing else is said. */
export const SETUP_KEYS: readonly string[] = [
  ...LOCKFILES,
  "package.json",
  "pnpm-workspace.yaml",
  "pyproject.toml",
  "setup.cfg",
  "go.mod",
  "Cargo.toml",
  "Gemfile",
  "composer.json",
];
