/** How a run judges where its specification says nothing: also runs of before there was a choice. */
import type { FenceSpec, ProtectSpec, VerdictSpec } from "./spec.ts";

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

/** Runs of before there was a fence had none. */
export const NO_FENCE: FenceSpec = {
  kind: "none",
  network: "open",
  hosts: [],
  memoryBytes: Number.MAX_SAFE_INTEGER,
  processes: Number.MAX_SAFE_INTEGER,
  fileBytes: Number.MAX_SAFE_INTEGER,
  diskBytes: Number.MAX_SAFE_INTEGER,
  outputBytes: Number.MAX_SAFE_INTEGER,
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
