#!/usr/bin/env bash
# Run each fuzz target for a while: fuzz.sh [TIME [DIR…]]; all rooms by default.
# A room's test program is linked once.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
shift || true
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
log=$made/log
cache=$(go env GOCACHE)/fuzz
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' "${@:-internal}" | xargs -n 1 dirname | sort -u | while read -r dir; do
	go test -vet=off -ldflags='-s -w' -c -fuzz . -o "$made/room" "./$dir" >"$log" 2>&1 || {
		cat "$log" >&2
		exit 1
	}
	for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | cut -d' ' -f2 | sort); do
		(cd "$dir" && "$made/room" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzcachedir "$cache/larva.dev/larva/$dir") >"$log" 2>&1 || {
			cat "$log" >&2
			exit 1
		}
		printf 'ok   %s %s, %s inputs\n' "$dir" "$target" "$(grep -oE 'execs: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2)"
	done
done
