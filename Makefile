# make demo and make test are all a new user needs; everything installs itself into .venv, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed-from
STAMP := $(VENV)/.built
KERNELS := setup.py $(wildcard src/compromis/*/*.pyx src/compromis/*/*/*.pyx src/compromis/*/kernels/*.pxi src/compromis/*/*/kernels/*.pxi)
INTEGRATIONS := $(VENV)/.integrations-from
KERNEL_TESTS := tests/evidence tests/frames/test_delimited.py tests/weights tests/tradeoffs tests/trees
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2

ifneq ($(wildcard ../shared/data),)
export COMPROMIS_DATA ?= $(abspath ../shared/data)
endif

# Install a group of pyproject.toml by its lock: exact versions, each file with its hash. Where they cannot be had (a Python or a platform that
# is newer than the lock, an index without them) or with LOCKED=no, the newest versions; a file whose hash differs ends it.
LOCKED ?= yes
define install
test "$(LOCKED)" = yes && $(PIP) --require-hashes --requirement locks/$(1).txt 2>$(VENV)/locked-$(1).log || { \
	! grep -q 'DO NOT MATCH THE HASHES' $(VENV)/locked-$(1).log 2>/dev/null || { cat $(VENV)/locked-$(1).log >&2; exit 1; }; \
	echo "installing the newest versions of $(1) in place of the locked ones (if those were tried, $(VENV)/locked-$(1).log says what was wrong)"; \
	$(PIP) --upgrade 'pip>=25.1' && $(PIP) $(2) --group $(1); }
endef

.PHONY: demo test test-all test-integrations test-spark test-slow stress snapshots lint types layers check test-bounds test-address build-bounds build-address build-coverage bench reproduce study docs package audit test-oldest coverage mutation long-run lock format clean

demo: $(STAMP)
	@$(BIN)/compromis demo
	@echo "First: source $(BIN)/activate, so that your shell finds compromis."

test: $(STAMP)
	$(PYTEST) -q -n $(WORKERS)

test-all: test test-spark test-integrations

# Spark on this machine, 400 MB; skips with a reason where there is no Java.
test-spark: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group spark || echo "Spark could not be installed; its tests are skipped"
	$(PYTEST) -q -m spark tests

test-slow: $(STAMP)
	$(PYTEST) -q -m slow

# The promises of docs/reliability.md at full counts, one table that ends with how many failed; less than two hours on two quiet cores.
# Promise 26, an hour of random use, is asked for by itself: python -m tests.stress --only 26 --write.
stress: $(STAMP)
	STRESS_WORKERS=$(WORKERS) $(BIN)/python -m tests.stress --without 26 --write

# Other packages and servers: installed once into the same environment; a test skips, with its reason, what is missing.
test-integrations: $(INTEGRATIONS)
	$(PYTEST) -q -m integration

snapshots: $(STAMP)
	$(BIN)/python -m tests.test_snapshots
	git diff --stat tests/snapshots

lint: $(VENV)/.lint-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet --config .github/zizmor.yml .github/workflows

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports --no-cache

check: test lint types layers

# Every benchmark, then the tables of docs/performance.md and docs/capacity.md; ONLY="weights forest" runs these.
bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ONLY)

docs: $(VENV)/.docs-installed
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# Every source again, from COMPROMIS_DATA or OpenML, then the tables of the pages from the results.
reproduce: $(STAMP)
	$(BIN)/python -m reproductions
	$(BIN)/python -m reproductions.blocks

# The study beyond the papers: an hour of one core, lines that stand are not run again; then the tables of its page.
study: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group study
	$(BIN)/python -m reproductions study
	$(BIN)/python -m reproductions.blocks

# The locks anew, with the newest versions that pyproject.toml allows.
lock: $(STAMP)
	@$(PIP) uv
	$(BIN)/python tests/packaging/lock.py

# A wheel and an sdist, each installed into an environment of its own and tried there; the wheel on every Python that is found.
package: $(STAMP)
	@$(call install,package)
	$(BIN)/python tests/packaging/smoke.py

# What is known of the installed versions at the Python advisory database; what cannot be looked up fails too, with code 2.
audit: $(VENV)/.hardening-installed
	@$(BIN)/python tests/packaging/audit.py

# The quick tests with the oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest: .venv-oldest/.installed-from
	.venv-oldest/bin/python -m pytest -q -n $(WORKERS)

.venv-oldest/.installed-from: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/oldest.txt --editable '.[all]' --group dev
	@touch $@

# The package with its kernels compiled for a check, beside the working one.
build-bounds build-address build-coverage: build-%: $(STAMP)
	@mkdir -p build/$*/lib && find build/$*/lib -type f ! -name '*.so' -delete  # what src holds no more
	@find build/$*/lib -mindepth 1 -type d -empty -delete
	@COMPROMIS_BUILD=$* $(BIN)/python setup.py --quiet build --build-base build/$* --build-lib build/$*/lib

# The suite with bounds checks compiled in. An error that a kernel cannot raise reaches sys.unraisablehook, which pytest makes a failure.
test-bounds: build-bounds
	PYTHONPATH=$(CURDIR)/build/bounds/lib $(PYTEST) -q -n $(WORKERS) tests --ignore=tests/browser

# The tests that run kernels most, under gcc's address sanitizer.
test-address: build-address
	PYTHONPATH=$(CURDIR)/build/address/lib LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
		$(PYTEST) -q --capture=sys $(KERNEL_TESTS)

# Branches of every Python module, then lines of every kernel. Pages in a browser are left out: what they try is JavaScript, which is
# not measured here.
coverage: $(VENV)/.hardening-installed build-coverage
	@find build/coverage -name '*.gcda' -delete
	PYTHONPATH=$(CURDIR)/build/coverage/lib $(PYTEST) -q -n $(WORKERS) tests --ignore=tests/browser --cov --cov-report=term-missing:skip-covered --cov-fail-under=95
	$(BIN)/python tests/packaging/kernel_lines.py

# SAMPLE=400 draws as many changes per package; without it all of them. Compiled kernels are not changed.
mutation: $(VENV)/.hardening-installed
	$(BIN)/python -m tests.stress.mutation --workers $(WORKERS) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

MINUTES ?= 60
long-run: $(STAMP)
	$(BIN)/python -m tests.stress.long_run --minutes $(MINUTES)

$(VENV)/.lint-installed: $(STAMP)
	@$(call install,lint)
	@touch $@

$(VENV)/.hardening-installed: $(STAMP)
	@$(call install,hardening)
	@touch $@

format: $(STAMP)
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

clean:
	find src \( -name '*.so' -o -name '*.pyd' \) -delete
	rm -rf $(VENV) .venv-oldest build dist src/*.egg-info docs/_build docs/gallery docs/reference .pytest_cache .mypy_cache .ruff_cache

$(VENV)/.docs-installed: $(STAMP)
	@$(call install,docs)
	@touch $@

# Compile again only the kernels that changed.
$(STAMP): $(INSTALLED) $(KERNELS)
	@compiler=$$($(BIN)/python build_backend/compromis_build.py) && test -z "$$compiler" || \
		{ echo "there is no C compiler: installing $$compiler"; $(BIN)/python -m pip install --quiet --disable-pip-version-check "$$compiler"; }
	@$(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

# Reinstall only when the list of dependencies changes: the stamp keeps a copy of it. The kernels are compiled by the rule above.
$(INSTALLED): pyproject.toml locks/dev.txt
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "compromis needs Python 3.11 or newer, this is %d.%d; run make PYTHON=python3.11" % sys.version_info[:2])'
	@test -x $(BIN)/python || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@if ! cat pyproject.toml locks/dev.txt | cmp -s - $@; then \
		echo "installing compromis and its tools into $(VENV) (once, about a minute)"; \
		export COMPROMIS_BUILD=nothing && { $(call install,dev,--editable '.[all]'); } && \
		$(PIP) --no-deps --no-build-isolation --editable . && cat pyproject.toml locks/dev.txt > $@; \
	else touch $@; fi

$(INTEGRATIONS): $(STAMP)
	@if ! cmp -s pyproject.toml $@; then \
		echo "installing the packages of the integration tests into $(VENV) (once, some minutes)"; \
		COMPROMIS_BUILD=nothing $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group integrations && \
		cp pyproject.toml $@ || echo "not all of them could be installed; the tests of the missing ones are skipped"; \
	else touch $@; fi
