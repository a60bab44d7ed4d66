# Two commands are all a newcomer needs: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test lint unit wheel bench fuzz docs lock clean

run: $(READY)  ## the engine on a bundled sample, before and after
	$(BIN)/headgate demo

test: lint unit wheel  ## everything CI runs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

unit: $(READY)
	$(BIN)/pytest

wheel: $(READY)  ## build the wheel, install it in a clean environment, use it
	$(BIN)/python tools/check_wheel.py

bench: $(READY)  ## measure every bar and write docs/benchmarks.md
	$(BIN)/python -m bench

fuzz: $(READY)  ## the property tests, fifty times longer
	HYPOTHESIS_PROFILE=long $(BIN)/pytest tests/engine -m property

docs: $(READY)  ## regenerate what is generated from the code
	$(BIN)/python tools/generate_docs.py

lock:  ## pin the requirements anew (needs pip-tools on PATH)
	cd requirements && for f in runtime dev; do \
	  pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links --no-header -o $$f.txt $$f.in; done

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

clean:
	rm -rf $(VENV) dist build .ruff_cache .import_linter_cache .hypothesis
