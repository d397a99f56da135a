# noiseaudit: `make` sets up and runs the pipeline, `make test` sets up and runs every check.
# Needs only Python >= 3.11 with venv, and make. See README.md.

PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)

# The pattern in OpenDP's noise, and the audit that finds it without knowing of it.
FIRST := figures/opendp/artifacts.png figures/audits/opendp-0.14.1.png

# A Python that was asked for replaces another one's environment; else the one that is there will do.
ASKED := $(if $(filter file,$(origin PYTHON)),,--this-python)
SET_UP = @$(PYTHON) -I workflow/set_up.py $(ASKED)

# Of the user's own settings for Python none reaches a run: byte-compiled packages start three times
# faster, and what lies on a path of theirs is not what was pinned.
unexport $(filter PYTHON%,$(.VARIABLES))

.DELETE_ON_ERROR:
.PHONY: all quick test test-cluster check report gallery pins clean help environment tools style

all: environment ## set up, then every figure, table and notebook at the papers' scale
	@echo "make: running the pipeline at the papers' scale (config/config.yaml)"
	@echo "make: first, within minutes: $(FIRST)"
	@$(SNAKEMAKE) all --prioritize $(FIRST)
	@echo "make: done; see figures/, results/ and results/notebooks/*.html"

quick: environment ## the same on small samples, in two minutes, in place of the full results
	@echo "make: running the pipeline on small samples (config/quick.yaml)"
	@$(SNAKEMAKE) all --configfile config/quick.yaml
	@echo "make: done on small samples; see figures/, results/ and results/notebooks/*.html"

test: style ## set up, then lint, format, workflow lint and tests
	@echo "make: running the tests"
	@$(BIN)/pytest

check: style ## set up, then style and the tests of single units, for every day
	@echo "make: running the tests of single units"
	@$(BIN)/pytest -m "not pipeline and not slow"

test-cluster: tools ## run the small samples through a Slurm of one node, killed thrice (root; a quarter of an hour)
	@$(BIN)/python scripts/verify_cluster.py

style: tools
	@echo "make: checking style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow
	@$(BIN)/snakemake --lint

report: all ## one offline HTML page with every figure and table
	@$(SNAKEMAKE) --report report.html

gallery: all ## copy figures, notebooks and the main tables into docs/, for who runs nothing
	@cp figures/*.png figures/*/*.png docs/gallery/
	@cp results/notebooks/*.ipynb docs/notebooks/
	@cp results/comparison.tsv results/claims.tsv results/opendp/releases.tsv results/opendp/reach.tsv results/opendp/layers.tsv \
	  results/audits/verdicts.tsv results/dpecdf/audit.tsv docs/tables/
	@echo "make: docs/gallery, docs/notebooks and docs/tables refreshed"

pins: tools ## pin requirements.txt and requirements-dev.txt anew
	@for set in requirements requirements-dev; do \
	  $(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	    --override requirements-left-out.in $$set.in -o $$set.txt; \
	done

clean: ## remove results, figures and logs; keep the environment, the wheels and the drawn samples
	@find -H results -mindepth 1 ! -name README.md ! -path '*/samples/*' ! -path '*/traces/*' -type f -delete
	@find -H results -name '.*' -type f -delete # what a killed job left
	@find -H figures -mindepth 1 ! -name README.md -type f -delete
	@rm -rf logs report.html resources/.installing-* resources/*/.installing-*

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

environment: ## set up .venv, and nothing else
	$(SET_UP)

tools: environment
	$(SET_UP) --tools
