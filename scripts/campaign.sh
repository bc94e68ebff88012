#!/usr/bin/env bash
# The long form of the crash and fault tests: 500 kills of real runs, a fault at every append, spawn and rename. Writes
# bench/campaign.json. Takes about an hour on two cores.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
npm run --silent build
exec node bench/campaign.ts "$@"
