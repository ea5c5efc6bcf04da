#!/usr/bin/env bash
# The main job in one command, offline and without a key: build larva, register
# the shipped personas in a throwaway home, and let code-reviewer review a
# small git repository made on the spot. demo.sh [BINARY].
set -euo pipefail
cd "$(dirname "$0")/.."
larva=${1:-bin/larva}

if ! command -v git >/dev/null; then scripts/setup.sh; fi
if [ $# -eq 0 ] || [ "$larva" = bin/larva ]; then
	echo "building bin/larva (the first time takes a minute or two)" >&2
	go build -ldflags '-s -w' -o bin/larva ./cmd/larva
	larva=$PWD/bin/larva
fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
source scripts/demo-repo.sh
demo_repo "$home/shop"

# A throwaway home and nothing of yours: no key, no config, no registry.
run=(env -i HOME="$home" PATH="$PATH" TERM="${TERM:-dumb}" "$larva")
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

say larva register personas/
"${run[@]}" register personas/

cd "$home/shop"
say larva resolve code-reviewer
"${run[@]}" resolve code-reviewer --json | head -c 300
echo …

say larva run code-reviewer --profile offline "'Review my change.'"
"${run[@]}" run code-reviewer --profile offline "Review my change."
