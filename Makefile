# `make demo` to look, `make test` for everything CI runs. Each step of `test` prints how long it took.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
# A fresh rustup is not on the PATH of the shell that installed it.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
SEEDS ?= 200
STEP := scripts/step
# Where cargo puts what it builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The program as the tests build it: after them there is nothing to build. Alone it has fewer features of its libraries, and those
# would be built a second time; the tidy test holds that our code does without what they have more.
BUILD := $(CARGO) build -q --locked --workspace --lib --bins --tests

.DEFAULT_GOAL := help
.PHONY: help demo test check release dist dist-arm64 setup web web-types sdk-types check-fmt check-clippy check-build check-web check-tests check-pooler check-contracts check-openapi \
	check-browser check-sdk check-examples check-manifests check-fuzz fuzz simulate bench bench-compare chaos soak openapi fmt deny mutants breaks test-bitcoin-core

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "%-13s %s\n", $$1, $$2 }'

demo: ## the in-memory demo server; prints its keys and a link to try
	@scripts/setup build
	@scripts/setup web && $(MAKE) --no-print-directory web || echo "demo: running without the checkout pages" >&2
	@echo "demo: building till; the first time it takes minutes" >&2
	@$(CARGO) build -p till
	@$(CARGO) run -q -p till -- demo

# Clippy compiles our crates in everything that CI runs: it is the compiler, and looks on the way. A step of its own would compile
# all libraries once more, for reading alone, which took a quarter of a cold run.
test: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
test: export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
test: ## everything CI runs
	@scripts/setup test
	@$(STEP) "format" $(MAKE) --no-print-directory check-fmt
	@$(STEP) "what is broken on purpose has its place in the code" scripts/breaks --fit
	@$(STEP) "web pages are built" $(MAKE) --no-print-directory web
	@$(STEP) "their API types are what openapi.json says" node web/scripts/api-types.mjs --check
	@$(STEP) "their types and tests" $(MAKE) --no-print-directory check-web
	@$(STEP) "their budget" npm --prefix web run --silent budget
	@$(STEP) "compiling, with clippy" $(MAKE) --no-print-directory check-build
	@$(STEP) "tests on SQLite and PostgreSQL" $(MAKE) --no-print-directory check-tests
	@$(STEP) "the decoders against spoiled answers" $(MAKE) --no-print-directory check-fuzz
	@$(STEP) "tests on PostgreSQL through PgBouncer" $(MAKE) --no-print-directory check-pooler
	@$(STEP) "the forwarder" $(MAKE) --no-print-directory check-contracts
	@$(STEP) "openapi.json and the configuration reference are what the code says" $(MAKE) --no-print-directory check-openapi
	@$(STEP) "the files for containers against their schemas" $(MAKE) --no-print-directory check-manifests
	@$(STEP) "web pages in a browser" $(MAKE) --no-print-directory check-browser
	@$(STEP) "the libraries against the server" $(MAKE) --no-print-directory check-sdk
	@$(STEP) "the example shops in a browser" $(MAKE) --no-print-directory check-examples

# On a tree that is built. What needs a database server, a chain or a browser is left to `test`.
check: ## before a commit: format, clippy, unit tests and the tidy test, in a minute or two
	@scripts/setup test
	@$(STEP) "format" $(MAKE) --no-print-directory check-fmt
	@$(STEP) "clippy" $(MAKE) --no-print-directory check-clippy
	@$(STEP) "unit tests and the tidy test" $(CARGO) nextest run --locked --workspace --lib --bins --test tidy

release: ## the program for real use, with its pages, in target/dist
	@scripts/setup web
	@$(MAKE) --no-print-directory web
	@$(CARGO) build --release --locked -p till
	@scripts/split-debug $(TARGET)/release/till $(TARGET)/dist
	@echo "$(TARGET)/dist/till is the program, $(TARGET)/dist/till.debug its debug information"

# Linked against musl, so that it runs on every Linux of its architecture, and with the list of its crates inside, which
# `cargo audit bin` and others read. Paths of this machine are left out of it, in what rustc and the C compiler write: those
# of the clone, of cargo's folder, and of code that was generated below the target folder.
DIST_TARGET ?= x86_64-unknown-linux-musl
DIST := $(TARGET)/dist$(if $(filter aarch64-%,$(DIST_TARGET)),-arm64)
DIST_PATHS := $(CURDIR)=. $(or $(CARGO_HOME),$(HOME)/.cargo)=cargo $(abspath $(TARGET))=target
dist: ## a static program, a Debian package, a bill of materials and checksums, in target/dist
	@DIST_TARGET=$(DIST_TARGET) scripts/setup dist
	@$(MAKE) --no-print-directory web
	@RUSTFLAGS="$(DIST_PATHS:%=--remap-path-prefix=%)" CFLAGS="$(DIST_PATHS:%=-ffile-prefix-map=%)" CARGO_INCREMENTAL=0 \
		scripts/build-static $(DIST_TARGET)
	@scripts/split-debug $(TARGET)/$(DIST_TARGET)/release/till $(DIST)
	@readelf --sections --wide $(DIST)/till | grep '\.dep-v0' > /dev/null || { echo "dist: the program has no list of its crates" >&2; exit 1; }
	@scripts/check-package "$$(scripts/package-deb $(DIST)/till $(DIST))"
	@scripts/sbom $(DIST_TARGET) > $(DIST)/till.cdx.json
	@cd $(DIST) && sha256sum till till.debug till_*.deb till.cdx.json | tee SHA256SUMS

dist-arm64: ## the same for 64-bit ARM, in target/dist-arm64, built and tried on this machine
	@$(MAKE) --no-print-directory dist DIST_TARGET=aarch64-unknown-linux-musl

setup: ## installs what building and testing need, if missing
	@scripts/setup test

# What is there and newer than its sources is not made again: the packages, then the pages.
WEB_PACKAGES := web/node_modules/.package-lock.json
WEB_PAGES := web/dist/dashboard/index.html
WEB_SOURCES := $(shell find web/checkout/src web/dashboard/src web/button/src web/shared -type f) \
	web/checkout/index.html web/checkout/vite.config.ts web/dashboard/index.html web/dashboard/vite.config.ts \
	web/button/vite.config.ts crates/core/data/networks.json openapi.json

$(WEB_PACKAGES): web/package.json web/package-lock.json web/.npmrc
	@npm --prefix web ci --loglevel=error > /dev/null
	@touch $@

$(WEB_PAGES): $(WEB_PACKAGES) $(WEB_SOURCES)
	@npm --prefix web run --silent build > /dev/null
	@touch $@

web: $(WEB_PAGES) ## builds the web pages; the next build of the program embeds them

web-types: ## writes the web pages' types from openapi.json
	@node web/scripts/api-types.mjs

check-web: web
	@npm --prefix web run --silent check
	@npm --prefix web run --silent test

# Debian's Chromium, and the program that was built from all this.
check-browser: web
	@$(BUILD)
	@TILL_REQUIRE_SMTP=1 TILL_REQUIRE_ANVIL=1 \
		scripts/with-smtp scripts/with-anvil npm --prefix web run --silent browser

SDK_PACKAGES := sdk/typescript/node_modules/.package-lock.json

$(SDK_PACKAGES): sdk/typescript/package.json sdk/typescript/package-lock.json sdk/typescript/.npmrc
	@npm --prefix sdk/typescript ci --loglevel=error > /dev/null
	@touch $@

sdk-types: ## writes the libraries' types and calls from openapi.json
	@node sdk/scripts/generate.mjs

check-sdk: $(SDK_PACKAGES)
	@$(BUILD)
	@sdk/check

check-examples: web
	@$(BUILD)
	@examples/check

check-manifests:
	@$(BUILD)
	@scripts/check-manifests

check-fmt:
	@$(CARGO) fmt --all -- --check

check-clippy:
	@$(CARGO) clippy -q --locked --workspace --all-targets -- -D warnings

# Every target, those that are only measured as well. Without clippy where it is not the compiler (see test).
check-build:
	@$(CARGO) build -q --locked --workspace --all-targets

# The tidy test and the simulator's fixed seeds are among these. A machine without PostgreSQL, a mail
# server, a test chain or a language of the samples fails here instead of quietly testing half.
check-tests:
	@TILL_TEST_POSTGRES_FSYNC=off TILL_REQUIRE_POSTGRES=1 TILL_REQUIRE_SMTP=1 TILL_REQUIRE_ANVIL=1 TILL_REQUIRE_BITCOIN=1 TILL_REQUIRE_LANGUAGES=1 \
		scripts/with-postgres scripts/with-smtp scripts/with-anvil scripts/with-zeromq scripts/with-bitcoin \
		$(CARGO) nextest run --locked --workspace

# About a minute for all of them on two cores, in rounds that nobody has seen before. A failure names its round.
check-fuzz:
	@TILL_FUZZ_SECONDS=$${TILL_FUZZ_SECONDS:-15} TILL_FUZZ_SEED=$${TILL_FUZZ_SEED:-$$(date +%s)00000} \
		$(CARGO) nextest run --locked --workspace --test fuzz

# Transaction mode: no test may leave anything in a session. Once with settings refused, once with settings dropped.
POOLED := (package(till-store) & test(postgres)) | binary(pooler) | test(two_servers_started_at_once) \
	| (binary(contract) & test(on_postgres) & test(/^(invoices|idempotency|concurrency|payments|refunds|subscriptions|webhooks|stream)::/))
check-pooler:
	@TILL_TEST_POSTGRES_FSYNC=off TILL_REQUIRE_POSTGRES=1 scripts/with-postgres scripts/with-pgbouncer \
		$(CARGO) nextest run --locked --workspace -E '$(POOLED)'
	@TILL_TEST_POSTGRES_FSYNC=off TILL_REQUIRE_POSTGRES=1 PGBOUNCER_IGNORES=options,extra_float_digits scripts/with-postgres scripts/with-pgbouncer \
		$(CARGO) nextest run --locked --workspace -E 'binary(pooler)'

# Its bytes, its behaviour, and its addresses on nodes of several chain ids.
check-contracts:
	@contracts/check

check-openapi:
	@$(BUILD)
	@$(TARGET)/debug/till openapi | diff -u openapi.json - \
		|| { echo "openapi.json differs from the code: run make openapi" >&2; exit 1; }
	@$(TARGET)/debug/till config --markdown | diff -u docs/configuration.md - \
		|| { echo "docs/configuration.md differs from the code: run make openapi" >&2; exit 1; }

fuzz: ## the decoders against spoiled answers, for longer: make fuzz TILL_FUZZ_SECONDS=600
	@scripts/setup test
	@$(MAKE) --no-print-directory check-fuzz

# All families on the same seeds, in a build of its own that is faster and takes longer to make.
simulate: ## the simulator on more seeds: make simulate SEEDS=5000, SEEDS=30000..31000, SEEDS=17..18 FAMILY=refunds
	@scripts/setup build
	@TILL_TEST_SEEDS=$(SEEDS) TILL_TEST_FAMILY=$(FAMILY) TILL_TEST_KEEP=$(KEEP) \
		$(CARGO) test -q --locked --profile simulate -p till-engine --test simulate every_invariant -- --nocapture

bench: ## Till and the limits it is measured against, by turns in short rounds
	@scripts/setup test
	@scripts/with-postgres scripts/with-anvil $(CARGO) bench -q --locked -p till --bench till
	@$(CARGO) bench -q --locked -p till-watch --bench mempool

bench-compare: ## this tree and another commit of it, by turns: make bench-compare BASE=3743f31
	@test -n "$(BASE)" || { echo "say which commit: make bench-compare BASE=3743f31" >&2; exit 2; }
	@scripts/setup test
	@CARGO="$(CARGO)" scripts/bench-compare "$(BASE)"

chaos: ## three Till servers on a PostgreSQL cluster that is broken in turn, and a look whether anything was lost: make chaos CHAOS_CYCLES=100
	@scripts/setup test
	@scripts/with-cluster $(CARGO) test -q --locked -p till --bench chaos

soak: release ## ten minutes of everything at once on each database, and a look whether anything was lost
	@scripts/setup test
	@scripts/with-postgres scripts/soak

openapi: ## writes openapi.json and docs/configuration.md from the code, and the types of the web pages and the libraries
	@$(CARGO) run -q -p till -- openapi > openapi.json.new
	@mv openapi.json.new openapi.json
	@$(CARGO) run -q -p till -- config --markdown > docs/configuration.md
	@$(MAKE) --no-print-directory web-types sdk-types

fmt: ## formats the code
	@$(CARGO) fmt --all

deny: ## licences, doubles, sources and (with a network) advisories; builds cargo-deny the first time
	@command -v cargo-deny > /dev/null || $(CARGO) install -q --locked cargo-deny
	@$(CARGO) deny check licenses bans sources
	@$(CARGO) deny check advisories || echo "advisories: not checked, or something to read above" >&2

mutants: ## breaks the rules of the core in every small way; builds cargo-mutants the first time
	@command -v cargo-mutants > /dev/null || $(CARGO) install -q --locked cargo-mutants
	@scripts/mutants

# Built once, which takes a quarter of an hour, and kept outside the clone.
test-bitcoin-core: ## the tests beside a Bitcoin chain, on Bitcoin Core itself
	@scripts/with-zeromq scripts/with-bitcoin-core env TILL_REQUIRE_BITCOIN=1 $(CARGO) nextest run --locked --workspace --test bitcoin

breaks: ## breaks rules of the engine on purpose: each break must be caught by the simulator
	@scripts/setup build
	@scripts/breaks
