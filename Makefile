# contextkit: the only way in. `make help` lists what it can do.
# From a host's Makefile: include tools/contextkit/Makefile

# Nothing of a host's is touched: all names begin with CONTEXTKIT, and what is set is set back below.
# Nothing of ours can be replaced from outside: `override` beats whatever a caller types.
override CONTEXTKIT_GOAL_BEFORE := $(.DEFAULT_GOAL)
override CONTEXTKIT_PREFIX_BEFORE := $(.RECIPEPREFIX)
.RECIPEPREFIX :=

# Our folder. The list of Makefiles is a single path, maybe one with blanks, when no host includes us.
override CONTEXTKIT_BLANK := $(subst x,,x x)
override CONTEXTKIT_ALONE := $(wildcard $(subst $(CONTEXTKIT_BLANK),\ ,$(strip $(MAKEFILE_LIST))))
override CONTEXTKIT_DIR := $(or $(CONTEXTKIT_ALONE),$(lastword $(MAKEFILE_LIST)))
override CONTEXTKIT_DIR := $(patsubst %/,%,$(dir $(subst $(CONTEXTKIT_BLANK),?,$(CONTEXTKIT_DIR))))
override CONTEXTKIT_DIR := $(subst ?,$(CONTEXTKIT_BLANK),$(CONTEXTKIT_DIR))
override CONTEXTKIT_PLACE := $(subst $(CONTEXTKIT_BLANK),\ ,$(CONTEXTKIT_DIR))
override CONTEXTKIT_SET_UP := $(CONTEXTKIT_PLACE)/.venv/contextkit.mk
override CONTEXTKIT_DEVELOPMENT := $(CONTEXTKIT_PLACE)/.venv/development.stamp

override CONTEXTKIT_TARGETS := capsule_prompt capsule_save remember_later reminders reminder_done \
  payload_store payload_list payload_show payload_find payload_end payload_sweep payload_repair \
  verdict_write verdict_read verdict_table verdict_count verdict_attention verdict_tokens verdict_init verdict_clean \
  verdict_start verdict_contract verdict_wait verdict_diff \
  verdict_ingest verdict_index verdict_show verdict_stats verdict_check verdict_synthesize verdict_gate \
  context_help context_init context_config context_status
# In this checkout alone; a host keeps its own `help`, `test`, `clean` …
override CONTEXTKIT_OWN_TARGETS := $(if $(CONTEXTKIT_ALONE),help setup demo test lint check bench \
  bench_tokens golden manual lock clean)
override CONTEXTKIT_GOALS := $(or $(MAKECMDGOALS),$(if $(CONTEXTKIT_ALONE),help))
override CONTEXTKIT_ASKED := $(filter $(CONTEXTKIT_TARGETS) $(CONTEXTKIT_OWN_TARGETS),$(CONTEXTKIT_GOALS))

# Every variable that a recipe below hands to a script.
override CONTEXTKIT_INPUTS := agent agents all base branch budget confidence detail dir dry_run file files_changed finding findings folder \
  force id inline into json keep key_findings legacy lenient m max_idle max_tokens mini mode model next_step \
  no_reminders older_than output_dir overwrite part path phase plain plan_slug process purge q ref reminders \
  restart root run session source sources stat status stub summary summary_file tag tags target timeout tokens topic \
  type version

# The interpreter, as set-up found it: its file below says it again.
override CONTEXTKIT_PYTHON := $(CONTEXTKIT_DIR)/.venv/bin/python
# $(call CONTEXTKIT_SCRIPT,NAME COMMAND): the script with its options to follow. Where a target of the
# host's needs one of ours, no variable reaches it: `unset`.
override CONTEXTKIT_FORGET := unset $(CONTEXTKIT_INPUTS);
override CONTEXTKIT_SCRIPT = $(CONTEXTKIT_FORGET) MAKEFLAGS= exec "$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/scripts/$(firstword $1).py" $(wordlist 2,2,$1)

# Only when one of our targets is asked for: what was typed reaches the script word for word. make
# would expand it, and run a $(shell …) in it, when it builds a recipe's environment; so each
# command-line variable becomes its own raw text, and an input that was not typed becomes empty.
ifneq ($(CONTEXTKIT_ASKED),)
  ifneq ($(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),)
    $(error contextkit needs GNU make 4.0 or newer, this is $(MAKE_VERSION); on macOS: brew install make, then gmake)
  endif
  ifeq ($(value OS),Windows_NT)
    $(error contextkit does not support Windows: use WSL)
  endif
  override CONTEXTKIT_FORGET :=
  override CONTEXTKIT_V :=
  override CONTEXTKIT_GIVEN := $(foreach CONTEXTKIT_V,$(.VARIABLES),$(if $(filter \
    command,$(firstword $(origin $(CONTEXTKIT_V)))),$(CONTEXTKIT_V)))
  $(foreach CONTEXTKIT_V,$(CONTEXTKIT_GIVEN),$(eval override export $(CONTEXTKIT_V) := $$(value $(CONTEXTKIT_V))))
  $(foreach CONTEXTKIT_V,$(filter-out $(CONTEXTKIT_GIVEN),$(CONTEXTKIT_INPUTS)),$(eval override export $(CONTEXTKIT_V) :=))
  override CONTEXTKIT_MAKEFILES = $(MAKEFILE_LIST)
  export CONTEXTKIT_GIVEN CONTEXTKIT_MAKEFILES CONTEXTKIT_GOALS
# A make that a script starts does not take the variables of this call for its own.
$(CONTEXTKIT_ASKED): private MAKEOVERRIDES :=
  # With nothing but ours to make, the built-in rules would only be searched in vain.
  ifeq ($(filter-out $(CONTEXTKIT_ASKED),$(CONTEXTKIT_GOALS)),)
    MAKEFLAGS += -r
  endif

  # Set-up writes where the interpreter is. While that file is missing or older than what it was
  # made from, make runs set-up and starts again.
  ifneq ($(filter-out help context_help setup lock clean,$(CONTEXTKIT_ASKED)),)
    include $(CONTEXTKIT_SET_UP)
  endif
endif

override CONTEXTKIT_OURS := $(CONTEXTKIT_TARGETS) $(CONTEXTKIT_OWN_TARGETS) $(CONTEXTKIT_SET_UP) $(CONTEXTKIT_DEVELOPMENT)
$(CONTEXTKIT_OURS): override private SHELL := /bin/sh
$(CONTEXTKIT_OURS): override private .SHELLFLAGS := -c

$(CONTEXTKIT_SET_UP): $(CONTEXTKIT_PLACE)/requirements.lock $(CONTEXTKIT_PLACE)/scripts/setup.py $(CONTEXTKIT_PLACE)/.venv/bin/python
	@python3 "$(CONTEXTKIT_DIR)/scripts/setup.py"
# Gone, or a link that leads nowhere: set-up runs again.
$(CONTEXTKIT_PLACE)/.venv/bin/python: ;

$(filter-out context_help,$(CONTEXTKIT_TARGETS)): | $(CONTEXTKIT_SET_UP)

##@ Capsules and reminders

.PHONY: capsule_prompt capsule_save remember_later reminders reminder_done

capsule_prompt: ## print the prompt that has your agent write a context capsule
	@$(call CONTEXTKIT_SCRIPT,capsule_prompt) --root="$$root" --branch="$$branch" --session="$$session" --file="$$file" --stub="$$stub" \
	  --plan-slug="$$plan_slug" --tokens="$$tokens" --reminders="$$reminders" --no-reminders="$$no_reminders" \
	  --version="$$version" --mini="$$mini"

capsule_save: ## check the capsule that your agent replied (on standard input) and keep it
	@$(call CONTEXTKIT_SCRIPT,capsule save) --root="$$root" --file="$$file" --branch="$$branch" --overwrite="$$overwrite"

remember_later: ## keep a note for the next capsule: m="…"
	@$(call CONTEXTKIT_SCRIPT,remember_later) --root="$$root" --message="$$m" --topic="$$topic" --next-step="$$next_step" --tags="$$tags" --file="$$file"

reminders: ## the notes that are open
	@$(call CONTEXTKIT_SCRIPT,remember_later list) --root="$$root" --tag="$$tag" --topic="$$topic" --all="$$all" --file="$$file" --json="$$json"

reminder_done: ## mark a note as taken up: id=r-1a2b3c
	@$(call CONTEXTKIT_SCRIPT,remember_later done) --root="$$root" --id="$$id" --into="$$into" --file="$$file"

##@ Payloads

.PHONY: payload_store payload_list payload_show payload_find payload_end payload_sweep payload_repair

payload_store: ## store a long text (on standard input), answer with a short receipt
	@$(call CONTEXTKIT_SCRIPT,payload_store store) --root="$$root" --topic="$$topic" --source="$$source" --file="$$file" \
	  --session="$$session" --summary="$$summary" --findings="$$findings" --key-findings="$$key_findings" \
	  --confidence="$$confidence" --sources="$$sources" --budget="$$budget" --force="$$force" --path="$$path" \
	  --overwrite="$$overwrite" --tokens="$$tokens" --inline="$$inline"

payload_list: ## what a session has stored
	@$(call CONTEXTKIT_SCRIPT,payload_store list) --root="$$root" --session="$$session" --all="$$all" --json="$$json"

payload_show: ## print a payload or a part of it: ref=latest part=content
	@$(call CONTEXTKIT_SCRIPT,payload_store show) --root="$$root" --ref="$$ref" --part="$$part" --session="$$session" --json="$$json"

payload_find: ## every line of the payloads that holds a text: q=…
	@$(call CONTEXTKIT_SCRIPT,payload_store find) --root="$$root" --query="$$q" --session="$$session" --json="$$json"

payload_end: ## end a session: its payloads go, and can be resumed for a day
	@$(call CONTEXTKIT_SCRIPT,payload_store end) --root="$$root" --session="$$session" --summary-file="$$summary_file" --purge="$$purge"

payload_sweep: ## end the sessions that nobody uses any more
	@$(call CONTEXTKIT_SCRIPT,payload_store sweep) --root="$$root" --max-idle="$$max_idle"

payload_repair: ## make a session's manifest again from its files
	@$(call CONTEXTKIT_SCRIPT,payload_store repair) --root="$$root" --session="$$session"

##@ Verdicts

.PHONY: verdict_write verdict_read verdict_table verdict_count verdict_attention verdict_tokens verdict_init verdict_clean

verdict_write: ## record what one reviewer concluded: agent= status= summary=
	@$(call CONTEXTKIT_SCRIPT,verdict write) --root="$$root" --agent="$$agent" --status="$$status" --summary="$$summary" \
	  --type="$$type" --model="$$model" --detail="$$detail" --files-changed="$$files_changed" --findings="$$findings" \
	  --tokens="$$tokens" --phase="$$phase"

verdict_read: ## STATUS, MODEL and SUMMARY of one agent
	@$(call CONTEXTKIT_SCRIPT,verdict read) --root="$$root" --agent="$$agent" --lenient="$$lenient" --json="$$json"

verdict_table: ## STATUS, AGENT and SUMMARY, a line an agent
	@$(call CONTEXTKIT_SCRIPT,verdict table) --root="$$root" --run="$$run" --legacy="$$legacy" --lenient="$$lenient" --json="$$json"

verdict_count: ## how many of each status
	@$(call CONTEXTKIT_SCRIPT,verdict count) --root="$$root" --run="$$run" --legacy="$$legacy" --lenient="$$lenient" --json="$$json"

verdict_attention: ## AGENT, FINDINGS and DETAIL of those to look at
	@$(call CONTEXTKIT_SCRIPT,verdict attention) --root="$$root" --run="$$run" --legacy="$$legacy" --plain="$$plain" --lenient="$$lenient" --json="$$json"

verdict_tokens: ## the tokens that all agents spent
	@$(call CONTEXTKIT_SCRIPT,verdict tokens) --root="$$root" --run="$$run" --legacy="$$legacy" --lenient="$$lenient" --json="$$json"

verdict_init: ## make the store, which git does not see; writing does so too
	@$(call CONTEXTKIT_SCRIPT,verdict init) --root="$$root"

verdict_clean: ## remove verdicts of this session or a run, never what agents wrote; all=1 at a sprint's start
	@$(call CONTEXTKIT_SCRIPT,verdict clean) --root="$$root" --run="$$run" --older-than="$$older_than" --all="$$all"

.PHONY: verdict_start verdict_contract verdict_wait verdict_diff

verdict_start: ## set a review run up and print how each agent is launched: process= agents="a b" target=
	@$(call CONTEXTKIT_SCRIPT,verdict start) --root="$$root" --process="$$process" --agents="$$agents" --target="$$target" \
	  --base="$$base" --restart="$$restart" --json="$$json"

verdict_contract: ## how and where an agent has to write: run= agent=
	@$(call CONTEXTKIT_SCRIPT,verdict contract) --root="$$root" --run="$$run" --agent="$$agent" --output-dir="$$output_dir" --mode="$$mode"

verdict_wait: ## wait until each agent of a run has left its file: run=
	@$(call CONTEXTKIT_SCRIPT,verdict wait) --root="$$root" --run="$$run" --timeout="$$timeout" --stub="$$stub" --json="$$json"

verdict_diff: ## what the branch and the work tree change, each file once, untracked ones too
	@$(call CONTEXTKIT_SCRIPT,verdict diff) --root="$$root" --base="$$base" --stat="$$stat" --json="$$json"

.PHONY: verdict_ingest verdict_index verdict_show verdict_stats verdict_check verdict_synthesize verdict_gate

verdict_ingest: ## read the files of all agents, write a verdict each, print the table: run= or dir=
	@$(call CONTEXTKIT_SCRIPT,verdict ingest) --root="$$root" --run="$$run" --dir="$$dir" --agents="$$agents" --json="$$json"

verdict_index: ## the indexes in one form, a line a finding: run= or dir=
	@$(call CONTEXTKIT_SCRIPT,verdict index) --root="$$root" --run="$$run" --dir="$$dir" --agent="$$agent" --json="$$json"

verdict_show: ## the section of one finding, or the most severe ones: agent=
	@$(call CONTEXTKIT_SCRIPT,verdict show) --root="$$root" --agent="$$agent" --finding="$$finding" --run="$$run" --dir="$$dir" \
	  --max-tokens="$$max_tokens" --json="$$json"

verdict_stats: ## what reading in full, by finding, by index or by line costs: run= or dir=
	@$(call CONTEXTKIT_SCRIPT,verdict stats) --root="$$root" --run="$$run" --dir="$$dir" --json="$$json"

verdict_check: ## what is wrong with the file of an agent, line by line: file=
	@$(call CONTEXTKIT_SCRIPT,verdict check) --root="$$root" --file="$$file" --json="$$json"

verdict_synthesize: ## put all reviews together, synthesis.md and findings.json: run= or dir=
	@$(call CONTEXTKIT_SCRIPT,verdict synthesize) --root="$$root" --run="$$run" --dir="$$dir" --agents="$$agents" --json="$$json"

verdict_gate: ## PASS or FAIL with every reason: run= or dir=
	@$(call CONTEXTKIT_SCRIPT,verdict gate) --root="$$root" --run="$$run" --dir="$$dir" --agents="$$agents" --json="$$json"

##@ The whole toolkit

.PHONY: context_help context_init context_config context_status

context_help: ## this list, from a host's Makefile too
	@$(CONTEXTKIT_FORGET) python3 -S "$(CONTEXTKIT_DIR)/scripts/context.py" help --host="$(if $(CONTEXTKIT_ALONE),,1)" --root="$$root"

context_init: ## make the documented files that are missing; nothing of yours is overwritten
	@$(call CONTEXTKIT_SCRIPT,context init) --root="$$root" --dry-run="$$dry_run"

context_config: ## every limit and place in force, and where its value comes from
	@$(call CONTEXTKIT_SCRIPT,context config) --root="$$root" --json="$$json"

context_status: ## a line a system: what is stored, open or stale
	@$(call CONTEXTKIT_SCRIPT,context status) --root="$$root" --json="$$json"

ifneq ($(CONTEXTKIT_ALONE),)
override CONTEXTKIT_HERE := cd "$(CONTEXTKIT_DIR)" &&
.DELETE_ON_ERROR:

##@ This checkout

.PHONY: $(CONTEXTKIT_OWN_TARGETS)

help: ## every target by system
	@python3 -S "$(CONTEXTKIT_DIR)/scripts/context.py" help --root="$$root"

setup: ## the virtual environment; every other target does it by itself
	@python3 "$(CONTEXTKIT_DIR)/scripts/setup.py"

demo: ## the whole walk in a scratch folder, step by step; keep=1 leaves it there
	@$(call CONTEXTKIT_SCRIPT,demo) --root="$$root" --keep="$$keep"

$(CONTEXTKIT_DEVELOPMENT): $(CONTEXTKIT_PLACE)/requirements-dev.lock $(CONTEXTKIT_SET_UP)
	@python3 "$(CONTEXTKIT_DIR)/scripts/setup.py" --development

test: $(CONTEXTKIT_DEVELOPMENT) ## all tests
	@$(CONTEXTKIT_HERE) .venv/bin/python -m pytest

lint: $(CONTEXTKIT_DEVELOPMENT) ## style and types
	@$(CONTEXTKIT_HERE) .venv/bin/python -m ruff check && .venv/bin/python -m ruff format --check && .venv/bin/python -m mypy

check: test lint ## both

bench: $(CONTEXTKIT_DEVELOPMENT) ## what each command costs, as a ratio to a bare interpreter
	@"$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/tests/bench/commands.py"

bench_tokens: $(CONTEXTKIT_DEVELOPMENT) ## the token estimator against an exact counter: folder=DIR
	@"$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/tests/bench/estimator.py" "$$folder"

golden: $(CONTEXTKIT_DEVELOPMENT) ## accept what the commands print now as the golden files
	@$(CONTEXTKIT_HERE) GOLDEN=accept .venv/bin/python -m pytest -q -p no:xdist -m golden

manual: $(CONTEXTKIT_DEVELOPMENT) ## write the generated manual pages anew
	@"$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/tests/generated.py"

lock: ## pin the requirements anew, with hashes (needs uv)
	@$(CONTEXTKIT_HERE) uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' requirements.txt -o requirements.lock
	@$(CONTEXTKIT_HERE) uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' -c requirements.lock requirements-dev.txt -o requirements-dev.lock

clean: ## remove what set-up and tests made
	@$(CONTEXTKIT_HERE) rm -rf .venv scripts/contextkit/compiled .pytest_cache .mypy_cache .ruff_cache .hypothesis

endif

.RECIPEPREFIX := $(CONTEXTKIT_PREFIX_BEFORE)
.DEFAULT_GOAL := $(if $(CONTEXTKIT_ALONE),help,$(CONTEXTKIT_GOAL_BEFORE))
