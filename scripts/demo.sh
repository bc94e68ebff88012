#!/usr/bin/env bash
# Runs `pawl demo` from a checkout: installs and builds first where that is needed.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

main=dist/views/cli/main.js
if [ ! -e "$main" ] || [ -n "$(find src package.json tsconfig.json tsconfig.build.json -newer "$main" -print -quit)" ]; then
  npm run --silent build >&2
  touch "$main"
fi
exec node "$main" demo "$@"
