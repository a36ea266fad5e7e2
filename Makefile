.PHONY: help run test soak fuzz bench

# Tests of the whole server mostly wait for it.
TEST_THREADS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build the release and try it out on 127.0.0.1:8080
	cargo run --release --bin ferryhook -- dev

test: ## Everything a change must pass; installs and starts the servers it needs
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	scripts/check-dependencies
	RUST_TEST_THREADS=$(TEST_THREADS) scripts/with-servers cargo test --workspace --all-features
	cargo test -p ferryhook --test it schema # as `make run` builds it: no feature

soak: ## Kills the store 300 times and the server 200 times; cuts a reader off for a minute
	FERRYHOOK_CRASH_KILLS=300 cargo test -p ferryhook-store --test crash -- --nocapture
	FERRYHOOK_TEST_KILLS=200 cargo test -p ferryhook --test it crash:: -- --nocapture
	cargo test -p ferryhook --test it stream::minute -- --ignored --nocapture

fuzz: ## Ten minutes of generated data for each parser that reads what strangers sent
	for seeds in $$(ls fuzz/seeds | grep -v found); do scripts/fuzz $${seeds%.txt} 600 || exit 1; done

bench: ## The benchmarks, in release
	cargo bench -p ferryhook-core --features samples --bench filter
	cargo bench -p ferryhook-store --bench store
	cargo bench -p ferryhook-core --bench verify
	cargo run --release --bin ferryhook -- bench
