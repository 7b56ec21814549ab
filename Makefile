# `make skills` and `make test` do everything on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN ?= runs/fetch-push
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: skills test lint bench clean

skills: $(VENV)/.installed ## train FetchPush, evaluate it, draw it
	@if [ -e $(RUN)/config.json ]; then $(BIN)/csd train --resume $(RUN); \
	else $(BIN)/csd train FetchPush --run-dir $(RUN); fi
	@$(BIN)/csd evaluate $(RUN)
	@$(BIN)/csd plot $(RUN)
	@echo "look at $(RUN)/plots/skills.png"

test: $(VENV)/.installed-dev ## the whole suite
	@$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/pyright

bench: $(VENV)/.installed-bench ## speed, as ratios side by side in one run
	@$(BIN)/python benchmarks/run.py

$(VENV)/bin/python:
	@echo "creating $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "csd needs Python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing csd into $(VENV) (a minute or two, once)"
	@$(PIP) install -e . && touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing csd and its test tools into $(VENV) (a minute or two, once)"
	@$(PIP) install -e '.[dev,explore,hub,minari,ray,wandb]' && touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/bin/python
	@echo "installing csd and what it is measured against into $(VENV)"
	@$(PIP) install -e '.[bench]' && touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist
