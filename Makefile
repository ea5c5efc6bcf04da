# larva: personas as code. `make` prints what each target is for.
# Everything a target needs it fetches itself; tools land in .cache/.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

.PHONY: help run build test lint update bench peers

help: ## print this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s'|'

run: ## review a small repository offline, without a key: the main job in one command
	@scripts/demo.sh bin/larva

build: ## build bin/larva, stripped
	@go build -ldflags '-s -w' -o bin/larva ./cmd/larva

test: ## run every check: format, types, vet, drift, tests, race, fuzz
	@scripts/test.sh

lint: ## run the checks that need no tests: format, vet on three systems, staticcheck, generated files, cue vet
	@scripts/lint.sh

update: ## write the generated files and the golden output of the scripts anew; read the diff before you commit it
	@go run ./scripts/gen
	@LARVA_UPDATE=1 go test ./cmd/larva/... ./internal/...

bench: build ## measure speed and memory as ratios, write the README's table, fail above a limit
	@go run ./scripts/bench -larva bin/larva -readme README.md

peers: ## fetch the pinned programs that tests run against
	@scripts/peers.sh
