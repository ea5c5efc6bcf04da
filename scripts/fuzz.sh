#!/usr/bin/env bash
# Run each fuzz target for a while: fuzz.sh [TIME].
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' internal | sort | while read -r file; do
	for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -d' ' -f2); do
		echo "-- $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")" >/tmp/larva-fuzz.$$ 2>&1 ||
			{ cat /tmp/larva-fuzz.$$ >&2; exit 1; }
		tail -n 2 /tmp/larva-fuzz.$$ | head -n 1
	done
done
rm -f /tmp/larva-fuzz.$$
