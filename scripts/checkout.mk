# The targets of the checkout itself; a host keeps its own `help`, `test`, `clean` …

override CONTEXTKIT_OWN := help setup upgrade demo test test_long test_platforms test_hosts test_page picture mutants lint check bench bench_tokens bench_receipts bench_outputs bench_secrets bench_reviews bench_duplicates bench_peers bench_run bench_first_hour bench_chain bench_machines torture bench_day golden manual site lock clean
override CONTEXTKIT_HERE = cd '$(CONTEXTKIT_DIR)' &&
override CONTEXTKIT_FOLDER = "$(if $(filter folder,$(CONTEXTKIT_GIVEN)),$$folder)"
# $(call CONTEXTKIT_TYPED,n seed): those of them that were typed, as options.
override CONTEXTKIT_TYPED = $(foreach CONTEXTKIT_V,$(filter $1,$(CONTEXTKIT_GIVEN)),--$(CONTEXTKIT_V)="$$$(CONTEXTKIT_V)")
.DELETE_ON_ERROR:

##@ Checkout

help: ## every target by system
	@$(CONTEXTKIT_HELP)

setup: ## the virtual environment; every other target does it by itself; with="obstore pyrage" adds packages
	@python3 '$(CONTEXTKIT_DIR)/scripts/setup.py' $(call CONTEXTKIT_TYPED,with)

demo upgrade: | $(CONTEXTKIT_SET_UP)

upgrade: ## this checkout to the newest version, or to=
	@$(call CONTEXTKIT_RUN,adopt upgrade)

demo: ## what it does, in a scratch folder; all=1 shows all output, keep=1 leaves it there
	@$(foreach name,all keep,$(if $(filter $(name),$(CONTEXTKIT_GIVEN)),,unset $(name);)) sh '$(CONTEXTKIT_DIR)/scripts/demo.sh'

$(CONTEXTKIT_DEVELOPMENT): $(CONTEXTKIT_PLACE)/requirements-dev.lock $(CONTEXTKIT_SET_UP)
	@python3 '$(CONTEXTKIT_DIR)/scripts/setup.py' --development

# `make test what=hosts` and `make bench what=receipts`: the targets test_hosts and bench_receipts.
override CONTEXTKIT_WHAT = $(if $(filter command,$(firstword $(origin what))),$(or \
  $(filter $1_$(firstword $(value what)),$(CONTEXTKIT_OWN)),unknown_$1),$1_all)
# No $(shell …) here: make 4.4 expands what was typed for its environment.
$(foreach CONTEXTKIT_V,$(filter $(filter test_% bench_%,$(CONTEXTKIT_OWN)),$(MAKECMDGOALS)),$(warning \
  an old name, which goes with the next release: now make $(subst test_,test what=,$(CONTEXTKIT_V:bench_%=bench what=%))))
.PHONY: test_all bench_all unknown_test unknown_bench
unknown_test unknown_bench:
	@echo 'what: one of $(patsubst $(@:unknown_%=%)_%,%,$(filter $(@:unknown_%=%)_%,$(CONTEXTKIT_OWN)))' >&2; exit 2

test: $(call CONTEXTKIT_WHAT,test) ## all tests; what=hosts, page, platforms or long: those

test_all: $(CONTEXTKIT_DEVELOPMENT)
	@$(CONTEXTKIT_HERE) .venv/bin/python -m pytest

test_long: $(CONTEXTKIT_DEVELOPMENT) ## all tests, with many more examples, kills and races
	@$(CONTEXTKIT_HERE) CONTEXTKIT_TESTS=long .venv/bin/python -m pytest

test_platforms: ## demo and tests in Debian roots, with other Pythons, gits and makes (needs root): folder=DIR keeps them
	@python3 '$(CONTEXTKIT_DIR)/tests/platforms.py' $(CONTEXTKIT_FOLDER)

test_hosts: $(CONTEXTKIT_DEVELOPMENT) ## the hooks in real Claude Code and Codex, from npm, against a mock model (needs node); hosts=newest
	@$(CONTEXTKIT_HERE) .venv/bin/python tests/real_hosts/install.py $(if $(filter newest,$(hosts)),newest) && .venv/bin/python -m pytest -n 2 -c tests/real_hosts/pytest.ini tests/real_hosts

test_page: $(CONTEXTKIT_DEVELOPMENT) ## the report in a real browser, skipped with a message where there is none; accept=1 accepts how it looks now
	@'$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/page.py' $(filter accept,$(CONTEXTKIT_GIVEN))

picture: $(CONTEXTKIT_DEVELOPMENT) ## the pictures of README.md: the demo's report in a real browser
	@'$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/page.py' picture

mutants: $(CONTEXTKIT_DEVELOPMENT) ## change what makes decisions and see whether a test notices: what=fitting n=40
	@$(CONTEXTKIT_HERE) .venv/bin/python tests/mutants.py $(foreach name,what n seed,$(if $(filter $(name),$(CONTEXTKIT_GIVEN)),"$(name)=$$$(name)"))

lint: $(CONTEXTKIT_DEVELOPMENT) ## style and types
	@$(CONTEXTKIT_HERE) .venv/bin/python -m ruff check && .venv/bin/python -m ruff format --check && .venv/bin/python -m mypy

check: test lint ## both

bench: $(call CONTEXTKIT_WHAT,bench) ## what each command costs, as a ratio to a bare interpreter; what=receipts …: another bench

bench_all: $(CONTEXTKIT_DEVELOPMENT)
	@$(CONTEXTKIT_HERE) .venv/bin/python tests/bench/commands.py

# Each bench is a script of its name, or of this one.
override CONTEXTKIT_CALLED := tokens=estimator secrets=secret_rates reviews=review_rates duplicates=duplicate_rates run=endings
override CONTEXTKIT_BENCHES := bench_tokens bench_receipts bench_outputs bench_secrets bench_reviews bench_duplicates bench_peers bench_run bench_first_hour bench_chain bench_machines
$(CONTEXTKIT_BENCHES): bench_%: $(CONTEXTKIT_DEVELOPMENT)
	@'$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/bench/$(or $(patsubst $*=%,%,$(filter $*=%,$(CONTEXTKIT_CALLED))),$*).py' $(call CONTEXTKIT_TYPED,folder show clavain parallelus base)

bench_tokens: ## the token estimator against an exact counter: folder=DIR
bench_receipts: ## what receipts keep of the facts of real texts, beside other ways: folder=DIR
bench_outputs: ## what receipts of tools' outputs keep of what an agent needs first, beside cuts: folder=DIR with facts.json
bench_secrets: ## how many planted secrets are found, and what is flagged by mistake: folder=DIR
bench_reviews: ## what is read of reviews, what opens, and what is doubted of clean ones: folder=DIR
bench_duplicates: ## how many of the duplicates that people marked a synthesis finds: folder=DIR with reviews/
bench_peers: ## short outputs beside rtk and lean-ctx, from the Python index; with clavain=DIR parallelus=DIR beside the originals
bench_run: ## what our wrapper takes of its own once a command has ended that printed 1 MB
bench_first_hour: ## what a newcomer gets, from adopt to the first receipt opened, beside another revision: base=
bench_chain: ## a day of three sessions: facts that arrive at each link, none lost, none told twice, and their tokens
bench_machines: ## what pushing and pulling costs with 1 to 1,000 machines, over a folder, git and S3

torture: $(CONTEXTKIT_DEVELOPMENT) ## let an enemy loose on it: n=1000 what=kills,races,power,disk,machines,… seed=
	@$(CONTEXTKIT_HERE) PYTHONPATH=scripts:tests:tests/machines .venv/bin/python tests/torture/torture.py $(call CONTEXTKIT_TYPED,n what seed only)

bench_day: $(CONTEXTKIT_DEVELOPMENT) ## a day in the real clients on a scripted model, with and without: host=claude|codex folder= follow=50
	@'$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/real_hosts/install.py' && '$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/bench/day.py' $(call CONTEXTKIT_TYPED,host folder follow)

golden: $(CONTEXTKIT_DEVELOPMENT) ## accept what the commands print now as the golden files
	@$(CONTEXTKIT_HERE) GOLDEN=accept .venv/bin/python -m pytest -q -n0 -m golden

manual: $(CONTEXTKIT_DEVELOPMENT) ## write the generated manual pages anew
	@'$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/generated.py'

site: $(CONTEXTKIT_DEVELOPMENT) ## build the manuals as a website, with search and llms.txt; strict: dir=.site
	@'$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/tests/website.py' "$(if $(filter dir,$(CONTEXTKIT_GIVEN)),$$dir,$(CONTEXTKIT_DIR)/.site)"

lock: ## pin the requirements anew, with hashes (needs uv)
	@$(CONTEXTKIT_HERE) uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' requirements.txt -o requirements.lock
	@$(CONTEXTKIT_HERE) uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' -c requirements.lock requirements-dev.txt -o requirements-dev.lock

clean: ## remove what set-up and tests made
	@$(CONTEXTKIT_HERE) rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .site

# Nothing that is known: the nearest target is said.
.DEFAULT:
	@python3 -S '$(CONTEXTKIT_DIR)/scripts/context.py' unknown_target
