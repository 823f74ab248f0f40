PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export TF_CPP_MIN_LOG_LEVEL ?= 2

MINUTES ?= 30
MUTANTS ?= 400

.PHONY: help reproduce study test coverage mutants fuzz lint format notebooks bench endure test-oldest test-versions clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev,examples]'
	touch $@

reproduce: $(VENV)/installed  ## run the paper's experiments once; results/ gets the table, the pictures and a page of both
	$(BIN)/python -m examples run all

study: $(VENV)/installed  ## run them several times, the large settings too (hours), and write examples/RESULTS.md
	$(BIN)/python -m examples study

test: $(VENV)/installed  ## run the tests, on all cores
	$(BIN)/python -m pytest -n auto --dist loadfile

coverage: $(VENV)/installed  ## run the tests, and print which lines and branches of ltn they do not run
	$(BIN)/coverage erase
	rm -f .coverage-times
	$(BIN)/coverage run -m pytest -n auto --dist loadfile -p tests.mutation.contexts
	$(BIN)/coverage combine --quiet
	$(BIN)/python -m tests.covered

mutants: $(VENV)/mutants  ## change MUTANTS=400 random places of ltn, and print which changes the tests do not notice; needs `make coverage`
	$(BIN)/python -m tests.mutation $(ROOMS) --mutants $(MUTANTS) --seed $(or $(SEED),0)

$(VENV)/mutants: $(VENV)/installed
	$(BIN)/pip install --quiet --editable '.[mutants]'
	touch $@

fuzz: $(VENV)/installed  ## search random texts and theories for MINUTES=30 minutes; PART=theories SEED=17 repeats a block
	$(BIN)/python -m tests.fuzzing --minutes $(MINUTES) $(addprefix --part ,$(PART)) $(addprefix --seed ,$(SEED))

lint: $(VENV)/installed  ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/installed  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

notebooks: $(VENV)/installed  ## execute the notebooks, and store them with their outputs and the address of setup.cfg
	$(BIN)/python -m notebooks

bench: $(VENV)/installed  ## measure time and memory beside other libraries and networks without logic, and write benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

endure: $(VENV)/installed  ## repeat queries, searches, trainings, ... thousands of times in one process: memory stays flat (an hour)
	$(BIN)/python -m benchmarks.endurance

test-oldest:  ## run the tests on the oldest Python, TensorFlow and Keras that are supported
	.ci/versions oldest

test-versions:  ## run them on the oldest and the newest TensorFlow, and on Python 3.10, 3.12 and 3.13
	.ci/versions

clean:  ## remove the virtual environments and caches
	rm -rf $(VENV) .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
