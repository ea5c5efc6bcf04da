#!/usr/bin/env bash
# Every check. In CI no test may be skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
start=$SECONDS
LARVA_PEERS=1 scripts/setup.sh # with what tests run against
export PATH="$PWD/.cache/bin:$PATH"
export LARVA_SCREENSHOTS="$PWD/.cache/screenshots" # what the page of larva serve looks like
LARVA_SET_UP=1 scripts/lint.sh # not twice

step() { printf '== %s (%ds)\n' "$*" $((SECONDS - start)); }

# Three tests of a room at once on two cores: most wait for programs that they have started.
# vet has been over all of it; without debug data the test programs link in half the time.
step tests
go test -vet=off -ldflags='-s -w' -json -p 2 -parallel 3 -timeout 12m ./... | go run ./scripts/testsum

# The rooms that start goroutines. The model SDKs and CUE stay out: building
# them for the race detector takes minutes and they start none of ours.
step "race detector"
# MCP's own runner, what only moves bytes, compares with other programs or measures
# memory has run above, and starts no goroutine of ours that nothing else starts.
again='Conformance|LargeArguments|TestPages|RgGivesTheSame|WhatRgFinds|GrepLargeFile|MemoryLimitBinds|FloodInBoundedMemory|CPULimit|TestMemory'
again+='|HooksAgainstRules|CapturedPayloads|TestUmask|TestEveryCut|TestUndoAll|ReadPictures|FiltersAreNotRun|TestCorruption'
go test -vet=off -race -ldflags='-s -w' -json -timeout 12m -skip "$again" \
	./internal/agent/... ./internal/registry/... ./internal/proc/... ./internal/tool/... ./internal/hook ./internal/session \
	./internal/model ./internal/model/wire ./internal/model/script ./internal/watch ./internal/loopback ./internal/mcpserve ./internal/mcpclient | go run ./scripts/testsum

# Reading, canonical JSON and rules; the other targets run by hand, their seeds above.
step "fuzzing, 500 inputs a target"
scripts/fuzz.sh 500x internal/load internal/spec internal/permission internal/command

step done
