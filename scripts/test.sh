#!/usr/bin/env bash
# The one command that passes all tests on a fresh machine: installs what is needed, then formats, lints, types, builds
# and tests everything. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed. Who wants to
# know how long each test took names a file for it in PAWL_TEST_REPORT.
set -euo pipefail

# The system's packages are fetched beside npm's and what needs neither; whatever ends this script, an installation that
# has begun is not broken off.
system="$(mktemp)"
counts="$(mktemp)"
report="${PAWL_TEST_REPORT:-$counts}"
[ "${report#/}" != "$report" ] || report="$PWD/$report"
: >"$report"
bash "$(dirname "${BASH_SOURCE[0]}")/install-system.sh" >"$system" 2>&1 &
installing=$!
written="$(mktemp -d)"
trap 'wait; rm -f "$system" "$counts"; rmdir "$written" || true' EXIT

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

# The end-to-end tests drive the real programs; without them they would test nothing.
needs_program() {
  compgen -G "$2" >/dev/null || {
    echo "the $1 program is missing: run npm install without --omit=optional" >&2
    exit 1
  }
}
needs_program "Claude Code" 'node_modules/@anthropic-ai/claude-agent-sdk-*/claude'
needs_program Codex 'node_modules/@openai/codex-*/vendor/*/bin/codex'

# What tests write is synced again and again, and gone when they end: in memory that waits for no disk and takes a tenth
# less of the processors. Mounted for them alone, so that nothing of it is left whatever ends them; where this may not be
# done, memory is short, or a layer cannot be put over files in memory (a kernel before 6.6 keeps no user attributes there),
# they write where they always would.
MIN_MEMORY_KB=$((6 * 1024 * 1024))
in_memory() {
  local -a mount=(sh -c 'mount -t tmpfs -o mode=1777 tmpfs "$0" &&
    python3 -c "import os, sys; os.setxattr(sys.argv[1], \"user.pawl\", bytes())" "$0" && TMPDIR="$0" exec "$@"' "$written")
  if [ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || echo 0)" -ge "$MIN_MEMORY_KB" ] &&
    unshare --mount "${mount[@]}" true >/dev/null 2>&1; then
    unshare --mount "${mount[@]}" "$@"
  else
    "$@"
  fi
}

status=0
npm run --silent check:code || status=$?

wait "$installing" || status=$?
cat "$system" >&2

[ "$status" -ne 0 ] || PAWL_TEST_REPORT="$report" in_memory npm run --silent check:tests || status=$?

# A file that could not be loaded, or a step that failed without a test, counts as one failure.
count='
  const text = require("node:fs").readFileSync(process.argv[1], "utf8");
  const files = text === "" ? [] : JSON.parse(text).testResults;
  const failedIn = (file) => file.assertionResults.filter((test) => test.status === "failed").length;
  const failed = files.reduce((sum, file) => sum + (failedIn(file) || (file.status === "failed" ? 1 : 0)), 0);
  const passed = files.flatMap((file) => file.assertionResults).filter((test) => test.status === "passed").length;
  const left = files.flatMap((file) => file.assertionResults.filter((test) => test.status === "skipped" || test.status === "pending"));
  for (const test of left) console.error(`left out: ${test.fullName}`);
  console.log(`${passed} passed, ${failed || (process.argv[2] === "0" ? 0 : 1)} failed`);
  process.exit(failed === 0 ? Number(process.argv[2]) : Number(process.argv[2]) || 1);
'
node -e "$count" "$report" "$status"
