#!/usr/bin/env bash
# Fetch the programs that tests run against, as pinned in scripts/peers: an
# independent model server, MCP's conformance runner, inspector and four servers, a Node.js
# for them where the system's is older than 22.19, and OpenCode, which is built
# for Linux on x64 alone here: elsewhere its tests say that they skip. Each lock
# file names versions and hashes, no host: npm takes them from the registry that
# this machine uses. Nothing is fetched twice.
set -euo pipefail
cd "$(dirname "$0")/peers"

# fetch DIR: install what DIR/package-lock.json pins, unless this very file is.
fetch() {
	local dir=$1 stamp
	stamp="$dir/node_modules/.larva-lock"
	cmp -s "$dir/package-lock.json" "$stamp" && return
	echo "peers: fetching what scripts/peers/$dir/package-lock.json pins" >&2
	(cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
	cp "$dir/package-lock.json" "$stamp"
}

recent() { # is this node 22.19 or newer?
	"$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)' 2>/dev/null
}

command -v npm >/dev/null || {
	echo "peers: npm is missing; install Node.js 22.19 or newer" >&2
	exit 1
}
fetch .
if [ "$(uname -sm)" = "Linux x86_64" ]; then
	fetch opencode
fi
# Pi, in two versions, is fetched on request alone ("scripts/peers.sh pi"): no
# test starts it yet.
if [ "${1:-}" = pi ]; then
	fetch pi-0841
	fetch pi-latest
fi
if ! recent node; then
	if [ "$(uname -sm)" != "Linux x86_64" ]; then
		echo "peers: Node.js $(node --version 2>/dev/null || echo 'is missing'); 22.19 or newer is needed" >&2
		exit 1
	fi
	fetch node
fi
