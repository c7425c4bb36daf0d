# Everything a fresh machine needs is Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
# The oldest versions that are allowed have no wheels for the newest Python.
OLDEST_PYTHON ?= $(or $(shell command -v python3.11),$(PYTHON))
OLDEST := .venv-oldest/bin
PIP := -m pip install --quiet --disable-pip-version-check

# A browser for the tests of the page, tsc and axe-core: installed where that may be done, else named in one line.
.venv/tools: .venv/ready package.json tests/tools.py
	$(BIN)/python tests/tools.py
	touch $@

.PHONY: demo test test-plain test-oldest peer sanitize wheel bench clean
.DELETE_ON_ERROR:

# What the native core is built from.
NATIVE := CMakeLists.txt $(wildcard backend/*.py src/mercer/_core/*.hpp src/mercer/_core/*.cpp)

# The stamp is new whenever the dependencies, or the native core, may have changed.
.venv/ready: pyproject.toml $(NATIVE)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mercer needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --upgrade pip
	$(BIN)/python $(PIP) --editable '.[dev]'
	touch $@

.venv-oldest/ready: pyproject.toml tests/oldest.txt $(NATIVE)
	$(OLDEST_PYTHON) -m venv .venv-oldest
	$(OLDEST)/python $(PIP) --constraint tests/oldest.txt --editable . hypothesis pandas pyarrow pytest pytest-xdist
	touch $@

# The demo needs a part of what the tests do; it says what is being done while one waits.
.venv/demo: pyproject.toml $(NATIVE)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mercer needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo '[1/3] An environment of its own, .venv'
	@$(PYTHON) -m venv .venv
	@echo '[2/3] NumPy, SciPy, scikit-learn, Matplotlib, SymPy and a few more; then the native core is compiled (half a minute)'
	@$(BIN)/python $(PIP) --editable '.[plot,explain]'
	@echo '[3/3] The demo'
	@touch $@

demo: $(if $(wildcard .venv/ready),.venv/ready,.venv/demo)
	@$(BIN)/python examples/demo.py

test: .venv/ready .venv/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# Documents, and whatever else compares digits, once more as a CPU without vectors to speak of finds them.
test-plain: .venv/ready
	$(BIN)/python tests/plain.py -n 2 -m digits

OLD_TESTS := $(addprefix tests/test_, estimator_contract.py solve.py solvers.py models.py libsvm.py tables.py)
test-oldest: .venv-oldest/ready
	$(OLDEST)/python -m pytest -n 2 $(OLD_TESTS)

# scikit-learn's own tests with Mercer's classes patched in; PARTS=svm for some of them.
peer: .venv/ready
	$(BIN)/python tests/peer.py $(PARTS)

# The tests of the native core with address and undefined-behaviour sanitizers.
sanitize: .venv/ready
	$(BIN)/python $(PIP) scikit-build-core nanobind cmake ninja
	$(BIN)/python tests/sanitize.py

# A wheel for this Python: for 3.11, or for 3.12 and all that follow.
wheel: .venv/ready
	$(BIN)/python $(PIP) build
	$(BIN)/python -m build --wheel

# DATA may be a folder with load.py and the data sets that benchmarks/svm.py names.
bench: .venv/ready .venv/tools
	$(BIN)/python $(PIP) --editable '.[bench]'
	$(BIN)/python benchmarks/first.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/svm.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/linear.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/small.py
	$(BIN)/python benchmarks/dropin.py
	$(BIN)/python benchmarks/components.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/perceptron.py $(if $(DATA),--data $(DATA))
	$(if $(DATA),$(BIN)/python benchmarks/ridge.py --data $(DATA))

clean:
	rm -rf .venv .venv-oldest .mypy_cache .ruff_cache .pytest_cache .hypothesis out
