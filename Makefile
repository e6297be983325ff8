# make demo and make test are all a new user needs; everything installs itself into .venv, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-from
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2

ifneq ($(wildcard ../shared/data),)
export COMPROMIS_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-slow stress lint types layers check bench format clean

demo: $(STAMP)
	@$(BIN)/compromis demo

test: $(STAMP)
	$(PYTEST) -q -n $(WORKERS)

test-slow: $(STAMP)
	$(PYTEST) -q -m slow

# all promises of docs/reliability.md at full counts, one table; about an hour on two quiet cores
stress: $(STAMP)
	STRESS_WORKERS=$(WORKERS) $(BIN)/python -m tests.stress --write

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports --no-cache

check: test lint types layers

bench: $(STAMP)
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

format: $(STAMP)
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache

# Reinstall only when the list of dependencies changes: the stamp keeps a copy of it.
$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "compromis needs Python 3.11 or newer, this is %d.%d; run make PYTHON=python3.11" % sys.version_info[:2])'
	@test -x $(BIN)/python || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@if ! cmp -s pyproject.toml $@; then \
		echo "installing compromis and its tools into $(VENV) (once, about a minute)"; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group dev && \
		cp pyproject.toml $@; \
	else touch $@; fi
