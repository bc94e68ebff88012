#!/usr/bin/env bash
# Measures pawl's own cost as ratios within one run and writes bench/results.json. What is measured runs compiled, as users
# run it; `npm run bench -- fence` measures that part only. The compiled benchmarks live in .cache.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
npm run --silent build
rm -rf .cache/bench
tsc --noEmit false --outDir .cache/bench --rootDir . --allowImportingTsExtensions false --skipLibCheck \
  --target es2024 --module nodenext --moduleResolution nodenext --rewriteRelativeImportExtensions --strict --types node \
  --exactOptionalPropertyTypes --noUncheckedIndexedAccess --ignoreConfig bench/*.ts
cp src/checks/runners/*.cjs src/checks/runners/*.mjs .cache/bench/src/checks/runners/
ln -sfn ../../node_modules .cache/bench/node_modules
cp package.json .cache/bench/
exec node bench/bench.ts "$@"
