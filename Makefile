# Every target works on a machine that has only make and Python >= 3.11 with venv: it makes what it needs.
#   make demo   see it work          make test   run the tests and doctests
#   make lint types docs             make slow bench floors narrow second reproduce
#   PYTHON=python3.12 make test      uses another Python

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
FLOORS := .venv-floors
SECOND := .venv-second
PIP     = $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: reproduce demo test slow lint types docs pages examples floors narrow second second-environment environments bench check dist clean

# Many tests begin a process of their own, which imports the package: it is compiled once, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

demo: $(VENV)/.runtime
	$(BIN)/symdecouple demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2

slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

# The pages, and every example in them; `make examples ONLY=slow` runs those that `make test` leaves out.
docs: pages examples
	@echo "docs/_build/html/index.html"

pages: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

examples: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 -m "$(ONLY)" -p no:cacheprovider tests/test_documents.py

# Tables of the source in their small versions: those that need no pictures.
reproduce: $(VENV)/.test
	for name in orthokurtosis discrimination scenarios regression; do $(BIN)/symdecouple reproduce $$name || exit 1; done

bench: $(VENV)/.bench
	@test -d benchmarks || { echo "there are no benchmarks yet"; exit 1; }
	$(BIN)/python -m benchmarks

check: lint types test docs

# The archives of a release, and whether an index would show them.
dist: $(VENV)/.dev
	$(PIP) install build twine
	rm -rf dist && $(BIN)/python -m build && $(BIN)/twine check --strict dist/*

# The stamps: each is renewed when pyproject.toml changes, and needs the one before it.

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or newer, or say PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is $$($(PYTHON) -V 2>&1): Python 3.11 or newer is needed; say PYTHON=python3.11, for example"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv: install it (Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	@touch $@

# numba is an extra that nothing depends on: where it has no wheel, go on without.
$(VENV)/.runtime: pyproject.toml $(VENV)/.made
	$(PIP) install --only-binary numba,llvmlite --editable ".[fast]" || $(PIP) install --editable .
	-$(BIN)/symdecouple compile
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.runtime
	$(PIP) install --group test
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.runtime
	$(PIP) install --group dev
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.runtime
	$(PIP) install --group docs
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.runtime
	$(PIP) install --group bench
	@touch $@

# The oldest versions we promise, in an environment of their own, without any extra. Numbers are tested in all cases;
# of other tests with many cases, the first: it makes the calls that an old version may not have, or answer otherwise.
# Not those of tests/theory that ask nothing of the package.
floors: $(FLOORS)/.floors
	$(FLOORS)/bin/python -m pytest -n 2 -p no:cacheprovider $(addprefix --ignore=,$(filter-out %/test_errata.py,$(wildcard tests/theory/test_*.py))) --first-cases

$(FLOORS)/.floors: pyproject.toml .ci/floors.txt
	$(MAKE) VENV=$(FLOORS) $(FLOORS)/.made
	$(FLOORS)/bin/python -m pip --disable-pip-version-check --quiet install --constraint .ci/floors.txt --only-binary numpy,scipy --editable . --group test
	@touch $@

# What other vectors may change: numbers, and the digits in docstrings. Not tests/numeric/precision, which computes in
# mpmath numbers, nor the laws of exact answers. The kernels are compiled for another processor, into another folder.
NARROW  = $(abspath $(VENV))/narrow
DIGITS := symdecouple tests/numeric tests/laws/test_rows.py tests/laws/test_kernels.py

narrow: $(VENV)/.test
	@mkdir -p $(NARROW)
	@$(BIN)/python .ci/narrow.py > $(NARROW)/variables && cat $(NARROW)/variables
	env $$(cat $(NARROW)/variables) NUMBA_CACHE_DIR=$(NARROW) $(BIN)/symdecouple compile
	env $$(cat $(NARROW)/variables) NUMBA_CACHE_DIR=$(NARROW) $(BIN)/python -m pytest -n 2 -p no:cacheprovider \
		--ignore=tests/numeric/precision $(DIGITS)

# The core without any extra on the newest other Python that pyenv has: what is exact, the first case of each test, and
# what all numbers go through. Each Python has its own stamp, and a newer one makes the environment anew.
CORE := tests/language tests/calculus tests/numeric/samples tests/numeric/features tests/laws

second: second-environment
	@version=$$($(PYTHON) .ci/second.py) && if [ -z "$$version" ]; then \
		echo "skipped: there is no pyenv, or it has no other Python that is 3.11 or newer"; \
	else \
		PYENV_VERSION=$$version $(SECOND)/bin/python -m pytest -n 2 -p no:cacheprovider --first-cases $(CORE); \
	fi

second-environment:
	@version=$$($(PYTHON) .ci/second.py) && if [ -n "$$version" ]; then \
		$(MAKE) PYTHON="$$(PYENV_VERSION=$$version pyenv which python)" $(SECOND)/.second-$$version; \
	fi

$(SECOND)/.second-%: pyproject.toml
	rm -f $(SECOND)/.made
	$(MAKE) VENV=$(SECOND) $(SECOND)/.made
	$(SECOND)/bin/python -m pip --disable-pip-version-check --quiet install --editable . --group test
	@touch $@

# What `floors` and `second` run in, made beforehand.
environments: $(FLOORS)/.floors second-environment

clean:
	rm -rf $(VENV) $(FLOORS) $(SECOND) build dist docs/_build docs/notebooks docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find symdecouple tests -name __pycache__ -type d -prune -exec rm -rf {} +
