# Every target sets up .venv from the lock file first when it is missing or stale.
# Needs: make and Python 3.11 or later. Nothing else has to be installed or activated.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.hess-stamp

# A python to build .venv with; empty means: the first suitable one on the PATH.
PYTHON ?=
# What `make train` trains, for how many steps, and further flags: make train TASK=AntMaze STEPS=600000
TASK ?= PointMaze
STEPS ?= 100000
ARGS ?=
# Finished runs that `make results` records; none just renews what is made from the recorded ones.
RUNS ?=
# Test processes side by side.
WORKERS ?= 2
# Further flags for pytest: make test PYTEST_ARGS="-k replay"
PYTEST_ARGS ?=
# Where pip finds PyTorch's CPU wheels (see pytorch.org), if your pip does not know yet; only for `make bench`.
TORCH_INDEX ?=

PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest --durations=10 $(PYTEST_ARGS)
FAST := not slow and not faults and not ray and not envs
# Each worker takes a stretch of neighbouring tests, which share what is prepared and compiled.
WORKERS_FLAGS := -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup train test pytest test-slow test-faults test-ray test-envs test-all coverage lint types format bench docs-check results lock clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

train: $(STAMP)  ## train HESS (TASK=PointMaze STEPS=100000, further flags in ARGS)
	$(BIN)/hess train $(TASK) --steps $(STEPS) $(ARGS)

test: lint types pytest  ## lint, types and the fast tests: what has to pass before a merge

pytest: $(STAMP)
	$(PYTEST) $(WORKERS_FLAGS) -m "$(FAST)"

test-slow: $(STAMP)  ## the tests that take minutes
	$(PYTEST) $(WORKERS_FLAGS) -m "slow and not faults"

test-faults: $(STAMP)  ## kills, full disks, broken files: does everything survive?
	$(PYTEST) $(WORKERS_FLAGS) -m faults

test-ray: $(VENV)/.hess-ray-stamp  ## sweeps on a Ray cluster of several simulated machines
	$(PYTEST) -m ray tests/sweeps/test_ray.py  # others start JAX when they are collected, and Ray forks

test-envs: $(VENV)/.hess-envs-stamp $(VENV)/.hess-bench-stamp  ## every environment that others register: trained or refused
	$(PYTEST) -m envs tests/others
	$(PYTEST) -m "$(FAST)" tests/test_predict.py tests/test_examples.py

test-all: test test-slow test-faults test-ray test-envs  ## every test there is; takes hours

coverage: $(STAMP)  ## lines that neither make test nor measuring runs; fails below 92 %
	$(PYTEST) $(WORKERS_FLAGS) -m "$(FAST)" --cov --cov-report= --cov-fail-under=0
	$(PYTEST) $(WORKERS_FLAGS) -m slow tests/bench --cov --cov-append --cov-report=term-missing:skip-covered

lint: $(STAMP)  ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy, strict
	$(BIN)/mypy

format: $(STAMP)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.hess-bench-stamp  ## the performance table (flags in ARGS)
	$(BIN)/hess bench $(ARGS)

results: $(STAMP)  ## record finished runs in results/ and renew its tables and pages (RUNS="runs/AntMaze/hess/seed-*")
	$(BIN)/python -m tools.results $(RUNS) $(ARGS)

docs-check: $(STAMP)  ## run every command, example and link of README and docs
	$(PYTEST) tests/test_docs.py

setup: $(STAMP)  ## only set up .venv

lock: $(STAMP)  ## choose new versions within the bounds of pyproject.toml
	$(PIP) install --quiet "uv>=0.9,<1"
	$(BIN)/uv pip compile $(LOCK_FLAGS) --generate-hashes --extra dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(LOCK_FLAGS) --generate-hashes -c requirements.lock --extra ray pyproject.toml -o requirements-ray.lock
	$(BIN)/uv pip compile $(LOCK_FLAGS) --generate-hashes -c requirements.lock --extra envs pyproject.toml -o requirements-envs.lock
	$(BIN)/uv pip compile $(LOCK_FLAGS) --no-annotate -c requirements.lock --extra bench pyproject.toml \
		| sed -E -e '/^(cuda|nvidia|triton)-?/d' \
		  -e "s/^torch==([0-9.]+)/torch==\1+cpu ; sys_platform == 'linux'\ntorch==\1 ; sys_platform != 'linux'/" \
		> requirements-bench.lock

LOCK_FLAGS := --quiet --universal --fork-strategy fewest --python-version 3.11 --no-emit-index-url \
	--custom-compile-command "make lock"

clean:  ## remove .venv and caches; runs and results stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the virtual environment --------------------------------------------------------------

SUITABLE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
TOO_OLD_OR_NEW := import sys; sys.exit((3, 11) <= sys.version_info[:2] <= (3, 14))

# The stamp holds the folder and the PYTHON it was made with. A .venv that was moved along with its
# folder, lost its python, or was made with another one than now asked for starts anew.
REBUILD := $(shell [ ! -e $(STAMP) ] || { [ -x $(BIN)/python ] \
	&& [ "$$(sed -n 1p $(STAMP))" = "$(CURDIR)" ] \
	&& { [ -z "$(PYTHON)" ] || [ "$$(sed -n 2p $(STAMP))" = "$(PYTHON)" ]; }; } || echo yes)
ifeq ($(REBUILD),yes)
.PHONY: $(STAMP)
endif

# The lock is complete, so pip has nothing to resolve (--no-deps): older ones stumble over extras of
# packages that have a newer release.
$(STAMP): pyproject.toml requirements.lock
	@{ [ -z "$(REBUILD)" ] && $(BIN)/python -c 'import pip; $(SUITABLE)' 2>/dev/null; } || { \
		incomplete=; \
		for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14); do \
			"$$python" -c '$(SUITABLE)' 2>/dev/null && break; \
			"$$python" -c '$(TOO_OLD_OR_NEW)' 2>/dev/null || { command -v "$$python" >/dev/null && incomplete=$$python; }; \
			python=; \
		done; \
		[ -n "$$python" ] || [ -z "$$incomplete" ] || { echo "make: $$incomplete cannot make virtual environments: install its venv module (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 2; }; \
		[ -n "$$python" ] || { echo "make: no suitable Python found: install Python 3.11, 3.12, 3.13 or 3.14, or name one with PYTHON=/path/to/python3" >&2; exit 2; }; \
		echo "setting up $(VENV) with $$($$python --version)"; \
		"$$python" -m venv --clear $(VENV); \
	}
	$(PIP) install --quiet --no-deps --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@printf '%s\n' "$(CURDIR)" "$(PYTHON)" > $@

# The comparison with Stable-Baselines3 is worth having but not needed: without it `hess bench` says
# which rows it leaves out. --no-deps, because PyTorch would bring gigabytes for GPUs along.
$(VENV)/.hess-bench-stamp: $(STAMP) requirements-bench.lock
	@$(PIP) install --quiet --no-deps $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r requirements-bench.lock \
		&& touch $@ \
		|| echo "make: the CPU build of torch was not found; name the index of PyTorch's CPU wheels with TORCH_INDEX=... to compare with Stable-Baselines3" >&2

$(VENV)/.hess-ray-stamp: $(STAMP) requirements-ray.lock
	$(PIP) install --quiet --no-deps --require-hashes -r requirements-ray.lock
	@touch $@

$(VENV)/.hess-envs-stamp: $(STAMP) requirements-envs.lock
	$(PIP) install --quiet --no-deps --require-hashes -r requirements-envs.lock
	@touch $@
