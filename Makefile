# make demo and make test are all a new user needs; everything installs itself into .venv, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-from
INTEGRATIONS := $(VENV)/.integrations-from
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2

ifneq ($(wildcard ../shared/data),)
export COMPROMIS_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-all test-integrations test-spark test-slow stress lint types layers check bench reproduce docs package format clean

demo: $(STAMP)
	@$(BIN)/compromis demo

test: $(STAMP)
	$(PYTEST) -q -n $(WORKERS)

test-all: test test-spark test-integrations

# Spark on this machine, 400 MB; skips with a reason where there is no Java.
test-spark: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group spark
	$(PYTEST) -q -m spark tests

test-slow: $(STAMP)
	$(PYTEST) -q -m slow

stress: $(STAMP)
	$(PYTEST) -q -m stress -n $(WORKERS)

# Other packages and servers: installed once into the same environment; a test skips, with its reason, what is missing.
test-integrations: $(INTEGRATIONS)
	$(PYTEST) -q -m integration

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

docs: $(VENV)/.docs-installed
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# Every source again, from COMPROMIS_DATA or OpenML, then the tables of the pages from the results.
reproduce: $(STAMP)
	$(BIN)/python -m reproductions
	$(BIN)/python -m reproductions.blocks

# A wheel and an sdist, each installed into an environment of its own and tried there.
package: $(STAMP)
	$(BIN)/python tests/packaging/smoke.py

format: $(STAMP)
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist docs/_build docs/gallery docs/reference .pytest_cache .mypy_cache .ruff_cache

$(VENV)/.docs-installed: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

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

$(INTEGRATIONS): $(STAMP)
	@if ! cmp -s pyproject.toml $@; then \
		echo "installing the packages of the integration tests into $(VENV) (once, some minutes)"; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,onnx]' --group integrations && \
		cp pyproject.toml $@; \
	else touch $@; fi
