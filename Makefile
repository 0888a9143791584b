# `make demo` shows the project at work, `make test` checks it. Both make their own .venv; they need
# nothing but Python 3.11 (or newer) and a package registry.

PYTHONS := python3.11 python3.12 python3.13 python3.14 python3
PYTHON ?= $(shell for name in $(PYTHONS); do "$$name" -c \
  'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$$name" && break; done)
VENV := .venv
BIN := $(VENV)/bin
OUT := out
MAKEFLAGS += --no-print-directory

SMOKE := $(addprefix tests/,test_architecture.py test_universe.py test_pipelines.py \
  test_docs_passes.py test_cutile.py dialects inference layout/expr analysis frontend/cutile \
  interpreters/pure interpreters/ptx/checking/reports \
  interpreters/ptx/instructions/elementwise interpreters/ptx/instructions/memory \
  interpreters/ptx/instructions/synchronisation interpreters/ptx/instructions/test_calls.py \
  interpreters/ptx/instructions/dot/test_matrices.py \
  interpreters/ptx/instructions/dot/test_tensor_memory.py \
  interpreters/tile/semantics interpreters/tile/execution interpreters/tile/synchronization \
  kernels/test_forms.py kernels/test_tl.py kernels/machine_code/test_sass.py kernels/test_demo.py \
  transforms/lower_tiles/control/test_plain_control.py \
  transforms/lower_tiles/memory/test_plain_pointers.py)
# Broad and quick: every level and one or two kernels of each kind.

.PHONY: bounds schedules docs demo test smoke check lint format types unit filecheck sweep isa-sweep freeze hardware mutate bench clean
.DEFAULT_GOAL := demo

# Each worker of pytest has a core: a second thread of BLAS would wait for the core of the other.
test unit smoke sweep isa-sweep: export OPENBLAS_NUM_THREADS := 1

# Tests verify the IR after every 16th pass of a compilation; here after each.
sweep: export TILEAS_VERIFY_EACH := 1

demo: $(VENV)/.installed
	@$(BIN)/python -m kernels.demo --out $(OUT)/demo

test: $(VENV)/.installed-dev
	@$(MAKE) -j2 --output-sync=target lint types unit filecheck

smoke: $(VENV)/.installed-dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python -m pytest -W error -q -n 2 --dist worksteal $(SMOKE)

check: $(VENV)/.installed-dev
	@$(BIN)/python tests/check_pass.py $(PASS)

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check --quiet . || (echo "run 'make format'"; exit 1)
	@$(BIN)/ruff check --quiet .

format: $(VENV)/.installed-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

types: $(VENV)/.installed-dev
	@$(BIN)/basedpyright --warnings

unit: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest -W error -q -n 2 --dist worksteal

filecheck: $(VENV)/.installed-dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lit -j2 -q tests/filecheck

freeze: $(VENV)/.installed-dev
	@$(BIN)/python benchmarks/freeze.py $(OUT)/freeze $(if $(BASE),--compare $(BASE))

isa-sweep: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest -W error -q -n 2 -m "slow or not slow" tests/target/isa/test_isa.py

sweep: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest -W error -q -n 2 -m "slow or not slow" --hypothesis-profile sweep
	@$(BIN)/python benchmarks/round_trips.py

docs: $(VENV)/.installed-docs
	@$(BIN)/python -W ignore docs/site/assemble.py $(OUT)/docs/source
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict -f docs/site/mkdocs.yml
	@echo "$(OUT)/docs/site/index.html"

hardware: $(VENV)/.installed-dev
	@$(BIN)/python tests/hardware/check.py
	@$(BIN)/python tests/hardware/launch_cutile.py
	@$(BIN)/python tests/hardware/launch_kernels.py
	@$(BIN)/python tests/hardware/launch_side_by_side.py

mutate: $(VENV)/.installed-dev
	@$(BIN)/python tests/mutate_messages.py

bench: $(VENV)/.installed-dev
	@$(BIN)/python benchmarks/layouts.py
	@$(BIN)/python benchmarks/compile.py
	@$(BIN)/python benchmarks/sass.py
	@$(BIN)/python benchmarks/emulator.py
	@$(BIN)/python benchmarks/assignment.py
	@$(BIN)/python benchmarks/bytecode.py
	@$(BIN)/python benchmarks/block_programs.py 30

# On a GPU, with torch and Triton: every class of kernel beside its bound and the diagnosis that the
# work began with, machine code, compile times; and what docs/guides/scheduling.md shows.
bounds: $(VENV)/.installed-dev
	@mkdir -p $(OUT)/bounds
	@$(BIN)/python benchmarks/gpu.py --before benchmarks/measured/diagnosis_h200.json --ahead 16 \
	  --rounds 7 --seconds 120 --json $(OUT)/bounds/gpu.json
	@$(BIN)/python benchmarks/sass.py --only cuTile --json $(OUT)/bounds/sass.json
	@$(BIN)/python benchmarks/compile.py --repeat 3 --seconds 60 --only cuTile --only "new processes" \
	  --json $(OUT)/bounds/compile.json

SCHEDULE := $(BIN)/python -m tileas_xdsl.tools.tileas schedule
HALVES := f16[?, ?, ?, 64]

schedules: $(VENV)/.installed-dev
	@$(SCHEDULE) kernels/cutile/attention.py:attention --svg $(OUT)/schedules/attention --sig "q: $(HALVES), \
	  k: $(HALVES), v: $(HALVES), out: $(HALVES), heads=16, group=1, scale=0.18, causal=False, tm=128, tn=128, d=64"
	@$(SCHEDULE) kernels/cutile/matmul.py:matmul --svg $(OUT)/schedules/gemm --sig \
	  "a: f16[?, ?%8], b: f16[?, ?%8], c: f16[?, ?%8], tm=128, tn=256, tk=64"
	@$(BIN)/python benchmarks/gpu.py --ablation --rounds 7 --seconds 100 --json $(OUT)/schedules/ablation.json
	@$(BIN)/python benchmarks/prediction.py --configs 6 --limit 80 --json $(OUT)/schedules/prediction.json

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || (echo "Python 3.11 or newer is needed; none was found on PATH" >&2; exit 1)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || (echo "$(PYTHON) is older than Python 3.11; say 'make PYTHON=/path/to/python3.11'" >&2; exit 1)
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing tileas-xdsl into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cutile,ptxas]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing tileas-xdsl and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cutile,dev,gpu,host,notebooks,ptxas]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	@echo "installing tileas-xdsl and what makes its documentation into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cutile,docs,notebooks,ptxas]'
	@touch $@

clean:
	rm -rf $(VENV) $(OUT) .pytest_cache .ruff_cache .hypothesis
