#!/usr/bin/env bash
# To be sourced by the other scripts, or run before a build: goes to the repository's root, installs the npm packages when
# they are missing or older than the lockfile, and puts the repository's own Node first.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v npm >/dev/null 2>&1 || {
  echo "npm is missing: install Node.js 22.18 or newer" >&2
  exit 1
}
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  # Not `npm ci`: it refuses a lockfile whose registry lacked a package for some other platform. The versions are the
  # lockfile's all the same, and neither it nor package.json is written.
  PAWL_NO_BUILD=1 npm install --no-save --no-audit --no-fund --loglevel=error >&2
  touch node_modules/.package-lock.json
fi
export PATH="$PWD/node_modules/.bin:$PATH"
node --version >/dev/null 2>&1 || {
  echo "node_modules/.bin/node does not run: npm must be allowed to run the install script of the package 'node'" >&2
  exit 1
}
