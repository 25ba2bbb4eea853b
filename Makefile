# Two commands do everything on a machine with Python 3.11 and make:
#   make quickstart   set up, measure a real model on this machine, write report.html
#   make test         set up, pass the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# torch and friends are never needed; one thread a BLAS keeps the clock of a measurement quiet
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help quickstart notebooks test check docs fuzz screenshots clean

help:  ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 …"; exit 2; }
	@echo "setting up $(VENV): a few minutes the first time, and nothing to see meanwhile"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[lab,local]'
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[lab,local,test,docs]'
	@touch $@

quickstart: $(VENV)/.ready  ## set up, measure a real model on this machine, write report.html
	@$(BIN)/speedqual quickstart

notebooks: $(VENV)/.ready-test  ## run the notebooks with the real model, write their pages into notebooks/gallery
	@$(BIN)/python notebooks/render.py

test: $(VENV)/.ready-test  ## set up, pass the tests
	$(BIN)/python -m pytest -m "not timing" --numprocesses auto
	$(BIN)/python -m pytest -m timing  # what asserts on clocks has the machine to itself

check: $(VENV)/.ready-test  ## lint, format, types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.ready-test  ## build the documentation into build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet  # a warning is an error
	@echo build/docs/index.html

fuzz: $(VENV)/.ready-test  ## the long property tests of framing
	SPEEDQUAL_FUZZ=1 $(BIN)/python -m pytest tests/endpoints -k 'framing or fuzz' --timeout 1800

screenshots: $(VENV)/.ready-test  ## draw the report and the widgets into build/screenshots
	@$(BIN)/python tests/browser/screenshots.py
	@SPEEDQUAL_SCREENSHOTS=$(CURDIR)/build/screenshots $(BIN)/python -m pytest -q tests/lab

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
