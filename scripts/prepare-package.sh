#!/usr/bin/env bash
# npm's `prepare`: a checkout that is installed, linked or packed gets built, so that `npm install -g .` links a program.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The scripts here build when they need it.
[ -z "${PAWL_NO_BUILD:-}" ] || exit 0

if [ "${npm_config_global:-}" = true ]; then
  # Where npm puts packages for all users is not where this checkout has its own.
  unset npm_config_global npm_config_location npm_config_prefix npm_config_local_prefix npm_config_global_prefix npm_config_globalconfig
elif [ ! -e node_modules/.bin/tsc ]; then
  echo "pawl is not built: its packages for development are not installed (npm run build installs them)" >&2
  exit 0
fi
npm run --silent build
