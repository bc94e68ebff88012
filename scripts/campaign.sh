#!/usr/bin/env bash
# The promises of docs/promises.md with their full counts: 500 kills of real runs, a fault at every append, spawn and
# rename, and more. Each part writes its result into bench/campaign.json. All of it takes hours on two cores;
# `npm run campaign -- help` lists the parts.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
npm run --silent build
exec node bench/campaign.ts "$@"
