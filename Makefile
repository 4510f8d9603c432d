# contextkit: the only way in. `make help` lists what it can do.
# From a host's Makefile: include tools/contextkit/Makefile

contextkit_goal_before := $(.DEFAULT_GOAL)
CONTEXTKIT_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

CONTEXTKIT_TARGETS := capsule_prompt capsule_save remember_later reminders reminder_done \
  context_help context_init context_config context_status
# In this checkout alone; a host keeps its own `help`, `test`, `clean` …
ifeq ($(words $(MAKEFILE_LIST)),1)
  CONTEXTKIT_OWN_TARGETS := help setup demo test lint check bench bench_tokens golden manual lock clean
endif
CONTEXTKIT_ASKED := $(filter $(CONTEXTKIT_TARGETS) $(CONTEXTKIT_OWN_TARGETS),$(MAKECMDGOALS))

# Every variable that a recipe below hands to a script.
CONTEXTKIT_INPUTS := all branch dry_run file folder id into json keep m mini next_step \
  no_reminders overwrite plan_slug reminders root session stub tag tags tokens topic version

# Only when one of our targets is asked for: what was typed reaches the script word for word. make
# would expand it, and run a $(shell …) in it, when it builds a recipe's environment; so each
# command-line variable becomes its own raw text, and an input that was not typed becomes empty.
ifneq ($(CONTEXTKIT_ASKED),)
  ifneq ($(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),)
    $(error contextkit needs GNU make 4.0 or newer, this is $(MAKE_VERSION); on macOS: brew install make, then gmake)
  endif
  ifeq ($(OS),Windows_NT)
    $(error contextkit does not support Windows: use WSL)
  endif
  CONTEXTKIT_GIVEN := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
  $(foreach v,$(CONTEXTKIT_GIVEN),$(eval override export $v := $$(value $v)))
  $(foreach v,$(CONTEXTKIT_INPUTS),$(if $(filter override,$(origin $v)),,$(eval override export $v :=)))
  CONTEXTKIT_MAKEFILES = $(MAKEFILE_LIST)
  CONTEXTKIT_GOALS = $(MAKECMDGOALS)
  export CONTEXTKIT_GIVEN CONTEXTKIT_MAKEFILES CONTEXTKIT_GOALS

  # With nothing but ours to make, the built-in rules would only be searched in vain.
  ifeq ($(filter-out $(CONTEXTKIT_ASKED),$(MAKECMDGOALS)),)
    MAKEFLAGS += -r
  endif

  # Set-up writes where the interpreter is. While that file is missing or older than what it was
  # made from, make runs set-up and starts again.
  ifneq ($(filter-out help context_help setup lock clean,$(CONTEXTKIT_ASKED)),)
    include $(CONTEXTKIT_DIR)/.venv/contextkit.mk
  endif
$(CONTEXTKIT_ASKED): private SHELL := /bin/sh
$(CONTEXTKIT_ASKED): private .SHELLFLAGS := -c
endif

CONTEXTKIT_SETUP = python3 "$(CONTEXTKIT_DIR)/scripts/setup.py"
# $(call script,NAME COMMAND): the script with its options to follow. What it starts in its turn,
# another make perhaps, does not inherit the variables of this call.
script = MAKEFLAGS= exec "$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/scripts/$(firstword $1).py" $(wordlist 2,2,$1)

$(CONTEXTKIT_DIR)/.venv/contextkit.mk: $(CONTEXTKIT_DIR)/requirements.lock $(CONTEXTKIT_DIR)/scripts/setup.py \
  $(if $(wildcard $(CONTEXTKIT_DIR)/.venv/bin/python),,contextkit_interpreter_is_gone)
	@$(CONTEXTKIT_SETUP)
.PHONY: contextkit_interpreter_is_gone

##@ Capsules and reminders

.PHONY: capsule_prompt capsule_save remember_later reminders reminder_done

capsule_prompt: ## print the prompt that has your agent write a context capsule
	@$(call script,capsule_prompt) --root="$$root" --branch="$$branch" --session="$$session" --file="$$file" --stub="$$stub" \
	  --plan-slug="$$plan_slug" --tokens="$$tokens" --reminders="$$reminders" --no-reminders="$$no_reminders" \
	  --version="$$version" --mini="$$mini"

capsule_save: ## check the capsule that your agent replied (on standard input) and keep it
	@$(call script,capsule save) --root="$$root" --file="$$file" --branch="$$branch" --overwrite="$$overwrite"

remember_later: ## keep a note for the next capsule: m="…"
	@$(call script,remember_later) --root="$$root" --message="$$m" --topic="$$topic" --next-step="$$next_step" --tags="$$tags" --file="$$file"

reminders: ## the notes that are open
	@$(call script,remember_later list) --root="$$root" --tag="$$tag" --topic="$$topic" --all="$$all" --file="$$file" --json="$$json"

reminder_done: ## mark a note as taken up: id=r-1a2b3c
	@$(call script,remember_later done) --root="$$root" --id="$$id" --into="$$into" --file="$$file"

##@ The whole toolkit

.PHONY: context_help context_init context_config context_status

context_help: ## this list, from a host's Makefile too
	@python3 -S "$(CONTEXTKIT_DIR)/scripts/context.py" help --host="$(if $(CONTEXTKIT_OWN_TARGETS),,1)" --root="$$root"

context_init: ## make the documented files that are missing; nothing of yours is overwritten
	@$(call script,context init) --root="$$root" --dry-run="$$dry_run"

context_config: ## every limit and place in force, and where its value comes from
	@$(call script,context config) --root="$$root" --json="$$json"

context_status: ## a line a system: what is stored, open or stale
	@$(call script,context status) --root="$$root" --json="$$json"

ifdef CONTEXTKIT_OWN_TARGETS
.DELETE_ON_ERROR:

##@ This checkout

.PHONY: $(CONTEXTKIT_OWN_TARGETS)

help: ## every target by system
	@python3 -S scripts/context.py help --root="$$root"

setup: ## the virtual environment; every other target does it by itself
	@$(CONTEXTKIT_SETUP)

demo: ## the whole walk in a scratch folder, step by step; keep=1 leaves it there
	@$(call script,demo) --root="$$root" --keep="$$keep"

.venv/development.stamp: requirements-dev.lock .venv/contextkit.mk
	@$(CONTEXTKIT_SETUP) --development

test: .venv/development.stamp ## all tests
	@"$(CONTEXTKIT_PYTHON)" -m pytest

lint: .venv/development.stamp ## style and types
	@"$(CONTEXTKIT_PYTHON)" -m ruff check && "$(CONTEXTKIT_PYTHON)" -m ruff format --check && "$(CONTEXTKIT_PYTHON)" -m mypy

check: test lint ## both

bench: .venv/development.stamp ## what each command costs, as a ratio to a bare interpreter
	@"$(CONTEXTKIT_PYTHON)" tests/bench/commands.py

bench_tokens: .venv/development.stamp ## the token estimator against an exact counter: folder=DIR
	@"$(CONTEXTKIT_PYTHON)" tests/bench/estimator.py "$$folder"

golden: .venv/development.stamp ## accept what the commands print now as the golden files
	@GOLDEN=accept "$(CONTEXTKIT_PYTHON)" -m pytest -q -p no:xdist -m golden

manual: .venv/development.stamp ## write the generated manual pages anew
	@"$(CONTEXTKIT_PYTHON)" tests/generated.py

lock: ## pin the requirements anew, with hashes (needs uv)
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' requirements.txt -o requirements.lock
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' -c requirements.lock requirements-dev.txt -o requirements-dev.lock

clean: ## remove what set-up and tests made
	@rm -rf .venv scripts/contextkit/compiled .pytest_cache .mypy_cache .ruff_cache .hypothesis

endif

# A host's first target stays its default.
.DEFAULT_GOAL := $(if $(CONTEXTKIT_OWN_TARGETS),help,$(contextkit_goal_before))
