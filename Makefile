# Everything a fresh machine needs is Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test bench clean
.DELETE_ON_ERROR:

# The stamp is new whenever the dependencies may have changed.
.venv/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mercer needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# DATA may be a folder with load.py and the data sets that benchmarks/svm.py names.
bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/first.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/svm.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/linear.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/perceptron.py $(if $(DATA),--data $(DATA))
	$(if $(DATA),$(BIN)/python benchmarks/ridge.py --data $(DATA))

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis out
