/**
 * Files that a program on the user's own machine acts on by itself, long after the fence is gone: hooks, editor and
 * agent settings, package manager settings, shell start-up files, CI. A change in one is no harm yet, so it is not
 * forbidden; a person is told to look before using the branch.
 */

/** Anywhere in the tree, by name; small letters. */
const NAMES = new Set(
  [
    ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpmfile.js bunfig.toml .pypirc pip.conf .condarc .bazelrc .netrc",
    ".envrc .mise.toml mise.toml .tool-versions .autoenv .env.vault",
    ".mcp.json claude.md claude.local.md agents.md agents.override.md gemini.md opencode.json opencode.jsonc",
    ".cursorrules .windsurfrules .clinerules .roorules .aider.conf.yml",
    ".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .lefthook.yml .overcommit.yml",
    ".gitconfig .gitmodules .gitlab-ci.yml .travis.yml azure-pipelines.yml jenkinsfile .drone.yml",
    ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .inputrc",
    ".exrc .vimrc .nvimrc .nvim.lua .gdbinit .lldbinit .pythonrc sitecustomize.py usercustomize.py .pdbrc .irbrc",
  ].flatMap((line) => line.split(" ")),
);
/** Everything below a folder of such a name; small letters. */
const FOLDERS = new Set(
  [
    ".vscode .idea .fleet .zed .cursor .devcontainer .vim .nvim .settings",
    ".claude .claude-plugin .codex .gemini .opencode .aider .windsurf .continue",
    ".git .husky .githooks .lefthook .hooks .circleci .buildkite .direnv .mise",
  ].flatMap((line) => line.split(" ")),
);
/** The same, where two names make it. */
const PATHS = [
  /(^|\/)\.github\/(workflows|actions)\//,
  /(^|\/)\.(gitlab|forgejo|gitea)\//,
  /(^|\/)\.cargo\/(config|config\.toml)$/,
  /(^|\/)\.yarn\/(releases|plugins)\//,
  /(^|\/)\.config\/(git|mise|fish|direnv)\//,
  /\.(code-workspace|sublime-project)$/,
];

/** `path`: relative to the workspace. Letters of either size count: some file systems know no difference. */
export function runsLater(path: string): boolean {
  const small = path.toLowerCase();
  const parts = small.split("/");
  return (
    NAMES.has(parts.at(-1) ?? "") ||
    parts.slice(0, -1).some((part) => FOLDERS.has(part)) ||
    PATHS.some((pattern) => pattern.test(small))
  );
}

/** An entry of the workspace's top level that is, or may hold, such files. */
export function mayRunLater(name: string): boolean {
  const small = name.toLowerCase();
  return runsLater(small) || FOLDERS.has(small) || [".github", ".cargo", ".yarn", ".config"].includes(small);
}
