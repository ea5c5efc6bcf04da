#!/usr/bin/env bash
# Run each fuzz target for a while: fuzz.sh [TIME [DIR…]]; all rooms by default.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
shift || true
log=$(mktemp)
trap 'rm -f "$log"' EXIT
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' "${@:-internal}" | sort | while read -r file; do
	for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -d' ' -f2); do
		go test -vet=off -ldflags='-s -w' -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")" >"$log" 2>&1 || {
			cat "$log" >&2
			exit 1
		}
		printf 'ok   %s %s, %s inputs\n' "$(dirname "$file")" "$target" "$(grep -oE 'execs: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2)"
	done
done
