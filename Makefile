# Every command of the README. `make run` needs Python 3.11 or newer, and nothing else.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
BIN := .venv/bin
PYTEST := $(BIN)/pytest -n 2

.PHONY: install install-dev run dev test test-quick check bench

install: .venv/installed
install-dev: .venv/installed-dev

.venv/installed: requirements.txt constraints.txt
	@test -n "$(PYTHON)" || { echo "There is no Python 3.11 or newer here. Install one, or name it: make PYTHON=/path/to/python3.11 run"; exit 1; }
	@echo "Installing into .venv with $(PYTHON). The first time takes a few minutes."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

run: install
	@exec $(BIN)/python manage.py up

dev: install-dev
	@DEBUG=1 exec $(BIN)/python manage.py up

test: install-dev
	@$(PYTEST)

test-quick: install-dev
	@$(PYTEST) -m "not slow"

check: install-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy annotations badcollect bots
	$(BIN)/lint-imports
	HTTPS=1 DEBUG=0 $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: install-dev
	@for name in turns remote sockets batching verifying merging exporting pages scoring checkers; do echo "== $$name"; $(BIN)/python bench/$$name.py || exit 1; done
