#!/usr/bin/env bash
# The checks that need no tests. Each says what it is and stops the run.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${LARVA_SET_UP:-}" ] || scripts/setup.sh # test.sh has done it
export PATH="$PWD/.cache/bin:$PATH"

step() { printf '== %s\n' "$*"; }

step gofmt
bad=$(gofmt -l cmd internal schema personas profiles scripts)
[ -z "$bad" ] || { printf 'not formatted:\n%s\n' "$bad" >&2; exit 1; }

step go vet
go vet ./...

step "types on darwin and windows"
go run ./scripts/types darwin windows

step staticcheck
staticcheck ./...

step "generated files"
go run ./scripts/gen -check

step "cue vet"
cue vet ./schema ./personas ./profiles

step "types of the Python client"
(cd python && mypy --cache-dir=/dev/null)
