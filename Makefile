# noiseaudit: `make` sets up and runs the pipeline, `make test` sets up and runs every check.
# Needs only Python >= 3.11 with venv, and make. See README.md.

PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
UV := $(BIN)/python -m uv pip
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)

# Byte-compiled packages start three times faster; some environments forbid them.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH
export UV_NO_PROGRESS = 1
export UV_LINK_MODE = copy

.DELETE_ON_ERROR:
.PHONY: all quick test report gallery pins clean help

all: .venv/pipeline ## set up, then every figure, table and notebook at the papers' scale
	@echo "make: running the pipeline at the papers' scale (config/config.yaml)"
	@$(SNAKEMAKE) all
	@echo "make: done; see figures/, results/ and results/notebooks/*.html"

quick: .venv/pipeline ## the same on small samples, in two minutes, in place of the full results
	@echo "make: running the pipeline on small samples (config/quick.yaml)"
	@$(SNAKEMAKE) all --configfile config/quick.yaml
	@echo "make: done on small samples; see figures/, results/ and results/notebooks/*.html"

test: .venv/tools ## set up, then lint, format, workflow lint and tests
	@echo "make: checking style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow
	@$(BIN)/snakemake --lint
	@echo "make: running the tests"
	@$(BIN)/pytest

report: all ## one offline HTML page with every figure and table
	@$(SNAKEMAKE) --report report.html

gallery: all ## copy the figures and the executed notebooks into docs/, for who runs nothing
	@cp figures/*.png figures/*/*.png docs/gallery/
	@cp results/notebooks/*.ipynb docs/notebooks/
	@echo "make: docs/gallery and docs/notebooks refreshed"

pins: .venv/tools ## pin requirements.txt and requirements-dev.txt anew
	@for set in requirements requirements-dev; do \
	  $(UV) compile --quiet --universal --generate-hashes --python-version 3.11 $$set.in -o $$set.txt; \
	done

clean: ## remove results, figures and logs; keep the environment, the wheels and the drawn samples
	@find results -mindepth 1 ! -name README.md ! -path '*/samples/*' ! -path '*/traces/*' -type f -delete
	@find results -name '.*' -type f -delete # what a killed job left
	@find figures -mindepth 1 ! -name README.md -type f -delete
	@rm -rf logs report.html resources/*/.installing-*

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16

# uv installs the locked set in seconds. It is itself taken from the lock file, by its hashes.
.venv/bin/uv: requirements.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v >= (3, 11) or sys.exit("make: Python %d.%d found as $(PYTHON), 3.11 or newer expected (make PYTHON=...)" % v)'
	@echo "make: creating .venv"
	@$(PYTHON) -m venv .venv
	@awk '/^uv==/ { wanted = 1 } wanted { print } wanted && !/\\$$/ { exit }' requirements.txt > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --no-input --require-hashes -r .venv/uv.txt
	@touch $@

.venv/pipeline: requirements.txt pyproject.toml .venv/bin/uv
	@echo "make: installing the pinned requirements"
	@$(UV) install --quiet --python $(BIN)/python --require-hashes --compile-bytecode -r requirements.txt
	@$(UV) install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@$(BIN)/python scripts/compile_kernels.py
	@touch $@

.venv/tools: requirements-dev.txt .venv/pipeline
	@echo "make: installing the development tools"
	@$(UV) install --quiet --python $(BIN)/python --require-hashes --compile-bytecode -r requirements-dev.txt
	@touch $@
