# Everything here sets up .venv by itself; all it needs is make and a Python 3.11 to 3.13.
# Another interpreter: make PYTHON=python3.12 book

PYTHON ?= python3
CHECKS ?=
NOTEBOOKS ?=
PORT ?= 8000

VENV := .venv
RUN := $(VENV)/bin/python
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
READY := $(VENV)/.ready-$(VERSION)
LAB_READY := $(VENV)/.lab-ready-$(VERSION)
AS_ROOT = $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help book test notebooks serve lab lock bench bite clean
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@echo "make book        build the book, warnings as errors: _build/html/index.html"
	@echo "make test        run every check; make test CHECKS=\"unit types\" runs some of:"
	@echo "                 lint format types notebooks unit nbval build browser"
	@echo "make notebooks   execute and normalise the notebooks; NOTEBOOKS=\"roofline\" for some"
	@echo "make serve       build the book and serve it on this machine; PORT=8000"
	@echo "make lab         open the chapters in JupyterLab"
	@echo "make bench       time the library against NumPy by hand"
	@echo "make bite        break the book in many small ways and see each check fail"
	@echo "make lock        compile requirements.in and requirements-lab.in to their pinned lists"
	@echo "make clean       remove what was built and cached; .venv stays"

book: $(READY)
	@$(RUN) -m tools.book

test: $(READY)
	@$(RUN) -m tools.check $(CHECKS)

notebooks: $(READY)
	@$(RUN) -m tools.notebooks run $(NOTEBOOKS)

serve: book
	@$(RUN) -m tools.serve --port $(PORT)

# JupyterLab refuses to run as root unless told; in a container there often is no other user.
lab: $(LAB_READY)
	@$(RUN) -m jupyter lab --notebook-dir=book $(AS_ROOT)

bench: $(READY)
	@$(RUN) -m tools.benchmark
	@$(RUN) -m tools.step_benchmark
	@$(RUN) -m tools.plan_benchmark

bite: $(READY)
	@$(RUN) -m tools.bite

lock: $(READY)
	@$(RUN) -m tools.lock

clean:
	rm -rf _build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find book specdec_lib tests tools -name __pycache__ -prune -exec rm -rf {} +

# The stamps carry the Python's version: with another Python the environment is made anew.
$(READY): requirements.txt pyproject.toml
	@echo "Setting up $(VENV) (once, and after a change of requirements.txt)"
	@$(PYTHON) tools/environment.py $(VENV) requirements.txt
	@touch $@

$(LAB_READY): $(READY) requirements-lab.txt
	@echo "Adding JupyterLab to $(VENV)"
	@$(PYTHON) tools/environment.py $(VENV) requirements-lab.txt
	@touch $@
