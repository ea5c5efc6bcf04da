#!/usr/bin/env bash
# Bring what the checks need and the machine lacks: git, ripgrep, tmux, Python and Node
# from the system's packages, cue and staticcheck as Go tools into .cache/bin.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need git git
need curl curl
need rg ripgrep
need tmux tmux
need bwrap bubblewrap
need node nodejs
need npm npm
need python3 python3
need mypy mypy
need column bsdextrautils
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || need google-chrome chromium # for the page of larva serve
if ((${#missing[@]})); then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "setup: please install: ${missing[*]}" >&2
		exit 1
	fi
	echo "setup: installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# What tests run against comes over the network while the tools are built.
if [ -n "${LARVA_PEERS:-}" ]; then
	scripts/peers.sh &
	peers=$!
fi

# Both are tools of go.mod: they share what is compiled for larva itself.
mkdir -p .cache/bin
go build -o .cache/bin/ cuelang.org/go/cmd/cue honnef.co/go/tools/cmd/staticcheck
[ -z "${peers:-}" ] || wait "$peers"
