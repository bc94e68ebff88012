#!/usr/bin/env bash
# The one command that passes all tests on a fresh machine: installs what is needed, then formats, lints, types, builds
# and tests everything. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
bash scripts/install-system.sh

# The end-to-end tests drive the real programs; without them they would test nothing.
needs_program() {
  compgen -G "$2" >/dev/null || {
    echo "the $1 program is missing: run npm install without --omit=optional" >&2
    exit 1
  }
}
needs_program "Claude Code" 'node_modules/@anthropic-ai/claude-agent-sdk-*/claude'
needs_program Codex 'node_modules/@openai/codex-*/vendor/*/bin/codex'

report="$(mktemp)"
trap 'rm -f "$report"' EXIT

status=0
PAWL_TEST_REPORT="$report" npm run --silent check || status=$?

# A file that could not be loaded, or a step that failed without a test, counts as one failure.
count='
  const text = require("node:fs").readFileSync(process.argv[1], "utf8");
  const files = text === "" ? [] : JSON.parse(text).testResults;
  const failedIn = (file) => file.assertionResults.filter((test) => test.status === "failed").length;
  const failed = files.reduce((sum, file) => sum + (failedIn(file) || (file.status === "failed" ? 1 : 0)), 0);
  const passed = files.flatMap((file) => file.assertionResults).filter((test) => test.status === "passed").length;
  console.log(`${passed} passed, ${failed || (process.argv[2] === "0" ? 0 : 1)} failed`);
  process.exit(failed === 0 ? Number(process.argv[2]) : Number(process.argv[2]) || 1);
'
node -e "$count" "$report" "$status"
