#!/usr/bin/env bash
# Measures pawl's own cost as ratios within one run and writes bench/results.json. What is measured runs compiled, as users
# run it; `npm run bench -- fence` measures that part only. The compiled benchmarks live in .cache.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
npm run --silent build
node scripts/build.ts bench
exec node bench/bench.ts "$@"
