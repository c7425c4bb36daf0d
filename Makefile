# Everything a fresh machine needs is Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
# The oldest versions that are allowed have no wheels for the newest Python.
OLDEST_PYTHON ?= $(or $(shell command -v python3.11),$(PYTHON))
OLDEST := .venv-oldest/bin
BUILDERS := 'scikit-build-core>=0.10' 'nanobind>=2.5' cmake ninja
PIP := -m pip install --quiet --disable-pip-version-check
# Packages are compiled by the first process that imports them. Where Python is told to keep no bytecode, each of the many
# processes that the tests start would compile them anew, for five seconds.
unexport PYTHONDONTWRITEBYTECODE

# A browser for the tests of the page, tsc and axe-core: installed where that may be done, else named in one line.
.venv/tools: .venv/ready package.json tests/tools.py
	$(BIN)/python tests/tools.py
	touch $@

.PHONY: demo test test-plain test-reference test-oldest test-wheel peer sanitize wheel lines bench clean
.DELETE_ON_ERROR:

# What the native core is built from.
NATIVE := CMakeLists.txt $(wildcard backend/*.py src/mercer/_core/*.hpp src/mercer/_core/*.cpp)

# An environment with some extras: packages are fetched while the core is compiled.
NEEDED = import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; e = p["optional-dependencies"]; \
	print(*p["dependencies"], *(n for x in "$(EXTRAS)".split() for n in e[x] if not n.startswith("mercer[")), sep="\n")
define ENVIRONMENT
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mercer needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo '[1/3] An environment of its own, .venv'
	@$(PYTHON) -m venv .venv
	@echo '[2/3] What builds the native core: scikit-build-core, nanobind, cmake, ninja'
	@$(BIN)/python $(PIP) $(BUILDERS)
	@echo '[3/3] $(PACKAGES), while the core is compiled ($(PATIENCE))'
	@$(BIN)/python -c '$(NEEDED)' > .venv/needed
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python $(PIP) --no-deps --no-build-isolation $(BUILD) --editable . & build=$$!; \
	$(BIN)/python $(PIP) --no-compile --requirement .venv/needed && wait $$build
	@touch $@
endef

# The stamp is new whenever the dependencies, or the native core, may have changed.
.venv/ready: EXTRAS = plot explain data onnx widget distributed dev
.venv/ready: PACKAGES = Whatever Mercer and its tests need
.venv/ready: PATIENCE = a minute
.venv/ready: pyproject.toml $(NATIVE)
	$(ENVIRONMENT)

# The demo needs a part of that, and the core for this CPU alone.
.venv/demo: EXTRAS = plot explain
.venv/demo: PACKAGES = NumPy, SciPy, scikit-learn, Matplotlib, SymPy and a few more
.venv/demo: PATIENCE = half a minute
.venv/demo: BUILD = --config-settings=build-dir=build/demo --config-settings=cmake.define.MERCER_LEVELS=here
.venv/demo: pyproject.toml $(NATIVE)
	$(ENVIRONMENT)

.venv-oldest/ready: pyproject.toml tests/oldest.txt $(NATIVE)
	$(OLDEST_PYTHON) -m venv .venv-oldest
	$(OLDEST)/python $(PIP) --constraint tests/oldest.txt --editable . hypothesis pandas pyarrow pytest pytest-xdist
	touch $@

demo: $(if $(wildcard .venv/ready),.venv/ready,.venv/demo)
	@$(BIN)/python examples/demo.py

# Two processes share the cores: threads of BLAS and OpenMP that wait must not keep a core busy meanwhile.
test test-plain test-reference test-oldest: export OPENBLAS_THREAD_TIMEOUT := 4
test test-plain test-reference test-oldest: export OMP_WAIT_POLICY := passive
test: .venv/ready .venv/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# Everything on the reference core, as where there is no compiler, but for what needs speed; PARTS=tests/test_svc.py for some.
test-reference: .venv/ready
	MERCER_CORE=reference $(BIN)/python -m pytest -n 2 -m 'not speed' $(PARTS)

# How many lines of code there are.
lines:
	@$(PYTHON) tests/sources.py

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
	$(BIN)/python $(PIP) $(BUILDERS)
	$(BIN)/python tests/sanitize.py

# In dist/: the source package, and from it a wheel for Python 3.11 and one for 3.12 and all that follow.
wheel: .venv/ready
	$(BIN)/python $(PIP) build
	$(BIN)/python tests/wheels.py build

# Each of them in a new environment, with a fit.
test-wheel: wheel
	$(BIN)/python tests/wheels.py check

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
	rm -rf .venv .venv-oldest build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis out
