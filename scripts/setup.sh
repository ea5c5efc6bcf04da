#!/usr/bin/env bash
# Bring what the checks need and the machine lacks: git, ripgrep and Node from
# the system's packages, cue and staticcheck as Go tools into .cache/bin.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need git git
need rg ripgrep
need node nodejs
need npm npm
need column bsdextrautils
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

bin="$PWD/.cache/bin"
mkdir -p "$bin"
tool() { # name, package@version
	local stamp="$bin/.$1-${2##*@}"
	[ -x "$bin/$1" ] && [ -e "$stamp" ] && return
	echo "setup: building $1 ${2##*@}"
	GOBIN="$bin" go install "$2"
	touch "$stamp"
}
tool cue cuelang.org/go/cmd/cue@v0.17.1
tool staticcheck honnef.co/go/tools/cmd/staticcheck@v0.8.2
