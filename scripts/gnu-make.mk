# How the lines of the Makefile become targets, for GNU make 4.0 and newer.
#
# Nothing of a host's is touched: all names begin with CONTEXTKIT, and what is set is set back below.
# Nothing of ours can be replaced from outside: `override` beats whatever a caller types.
# A second copy that the same Makefile includes does nothing: make would warn of every rule.

ifneq ($(origin CONTEXTKIT_READ),override)
override CONTEXTKIT_READ := yes

override CONTEXTKIT_GOAL_BEFORE := $(.DEFAULT_GOAL)
override CONTEXTKIT_RECIPE_BEFORE := $(.RECIPEPREFIX)
.RECIPEPREFIX :=

# Our folder: as the shell takes it (DIR, in quotes), and as a target or prerequisite (PLACE).
override CONTEXTKIT_BLANK := $(subst x,,x x)
override CONTEXTKIT_ALONE := $(CONTEXTKIT_ALONE)
override CONTEXTKIT_DIR := $(subst $(CONTEXTKIT_BLANK),?,$(or $(CONTEXTKIT_ALONE),$(if $(filter \
  override,$(origin CONTEXTKIT_PLACED)),$(CONTEXTKIT_PLACED))))
override CONTEXTKIT_DIR := $(if $(CONTEXTKIT_DIR),$(patsubst %/,%,$(dir \
  $(CONTEXTKIT_DIR))),$(patsubst %/scripts/gnu-make.mk,%,$(lastword $(MAKEFILE_LIST))))
# Python 3.14 warns of a virtual environment whose path has `..` in it.
ifneq ($(filter ../%,$(CONTEXTKIT_DIR)),)
  override CONTEXTKIT_DIR := $(abspath $(CONTEXTKIT_DIR))
endif
override CONTEXTKIT_DIR := $(subst ?,$(CONTEXTKIT_BLANK),$(CONTEXTKIT_DIR))
override CONTEXTKIT_PLACE := $(subst $(CONTEXTKIT_BLANK),\ ,$(CONTEXTKIT_DIR))
override CONTEXTKIT_DIR := $(subst ','\'',$(CONTEXTKIT_DIR))
override CONTEXTKIT_PYTHON := $(CONTEXTKIT_DIR)/.venv/bin/python
override CONTEXTKIT_SET_UP := $(CONTEXTKIT_PLACE)/.venv/contextkit.mk
override CONTEXTKIT_DEVELOPMENT := $(CONTEXTKIT_PLACE)/.venv/development.stamp

# A target has its name, unless the host has one of that name, and always the name with the prefix
# in front, which a host may set before the include: CONTEXTKIT_PREFIX := kit_
ifneq ($(filter file override,$(origin CONTEXTKIT_PREFIX)),)
  override CONTEXTKIT_PREFIX := $(or $(strip $(CONTEXTKIT_PREFIX)),context_)
else
  override CONTEXTKIT_PREFIX := context_
endif
override CONTEXTKIT_V :=
override CONTEXTKIT_LINES := $(foreach CONTEXTKIT_V,$(filter contextkit.%,$(.VARIABLES)),$(if $(filter \
  file,$(origin $(CONTEXTKIT_V))),$(CONTEXTKIT_V:contextkit.%=%)))
override CONTEXTKIT_FIXED := $(filter context_%,$(CONTEXTKIT_LINES))
override CONTEXTKIT_NAMES := $(filter-out context_%,$(CONTEXTKIT_LINES))
override CONTEXTKIT_PREFIXED := $(addprefix $(CONTEXTKIT_PREFIX),$(CONTEXTKIT_NAMES))
override CONTEXTKIT_OWN :=
ifneq ($(CONTEXTKIT_ALONE),)
  include $(CONTEXTKIT_PLACE)/scripts/checkout.mk
endif
override CONTEXTKIT_GOALS := $(or $(MAKECMDGOALS),$(if $(CONTEXTKIT_ALONE),help))
override CONTEXTKIT_ASKED := $(filter $(if $(CONTEXTKIT_ALONE),%,$(CONTEXTKIT_LINES) \
  $(CONTEXTKIT_PREFIXED) $(addprefix context_,$(CONTEXTKIT_NAMES))),$(CONTEXTKIT_GOALS))

# Only when one of our targets is asked for: what was typed reaches the script word for word. make
# would expand it, and run a $(shell …) in it, when it builds a recipe's environment; so each
# command-line variable becomes its own raw text. The script takes those that GIVEN names.
override CONTEXTKIT_GIVEN :=
ifneq ($(CONTEXTKIT_ASKED),)
  ifeq ($(value OS),Windows_NT)
    $(error contextkit does not support Windows: use WSL)
  endif
  override CONTEXTKIT_GIVEN := $(foreach CONTEXTKIT_V,$(.VARIABLES),$(if $(filter \
    command,$(firstword $(origin $(CONTEXTKIT_V)))),$(CONTEXTKIT_V)))
  $(foreach CONTEXTKIT_V,$(CONTEXTKIT_GIVEN),$(eval override export $(CONTEXTKIT_V) := $$(value $(CONTEXTKIT_V))))
  override CONTEXTKIT_MAKEFILES = $(MAKEFILE_LIST)
  export CONTEXTKIT_MAKEFILES CONTEXTKIT_GOALS
  # With nothing but ours to make, the rules of others would only be searched in vain.
  ifeq ($(filter-out $(CONTEXTKIT_ASKED),$(CONTEXTKIT_GOALS)),)
    MAKEFLAGS += -r
  endif
endif

# Explicit rules for the names with the prefix. A plain name is found by its family, so that make
# prefers a rule of the host's, before or after this line, without a word: `doctor` matches
# docto%, and needs context_doctor. Of other names with such a beginning there is no context_….
override CONTEXTKIT_OURS := $(CONTEXTKIT_PREFIXED) $(CONTEXTKIT_FIXED) $(CONTEXTKIT_OWN)
override CONTEXTKIT_FAMILIES := capsule_% payload_% handof% memory_% verdict_% subagent_% reminder% \
  remember_% ado% unado% docto% session_% ru%
.PHONY: $(CONTEXTKIT_OURS)
$(CONTEXTKIT_OURS) $(CONTEXTKIT_SET_UP) $(CONTEXTKIT_DEVELOPMENT): override private SHELL := /bin/sh
$(CONTEXTKIT_OURS) $(CONTEXTKIT_SET_UP) $(CONTEXTKIT_DEVELOPMENT): override private .SHELLFLAGS := -c
$(CONTEXTKIT_OURS): override private export CONTEXTKIT_GIVEN := $(CONTEXTKIT_GIVEN)
# A make that a script starts does not take the variables of this call for its own.
$(CONTEXTKIT_OURS): private MAKEOVERRIDES :=

# $(call CONTEXTKIT_RUN,SCRIPT COMMAND): no shell is needed, so that make starts the script itself.
override CONTEXTKIT_RUN = '$(CONTEXTKIT_PYTHON)' '$(CONTEXTKIT_DIR)/scripts/$(firstword $1).py' $(wordlist 2,9,$1)
override CONTEXTKIT_HELP = python3 -S '$(CONTEXTKIT_DIR)/scripts/context.py' help

$(filter-out context_help,$(CONTEXTKIT_PREFIXED) $(CONTEXTKIT_FIXED)): | $(CONTEXTKIT_SET_UP)
$(CONTEXTKIT_PREFIXED):
	@$(call CONTEXTKIT_RUN,$(contextkit.$(@:$(CONTEXTKIT_PREFIX)%=%)))
$(filter-out context_help,$(CONTEXTKIT_FIXED)):
	@$(call CONTEXTKIT_RUN,$(contextkit.$@))
context_help: # needs no set-up
	@$(CONTEXTKIT_HELP) $(if $(CONTEXTKIT_ALONE),,--host)
ifeq ($(if $(filter help context_help,$(firstword $(CONTEXTKIT_GOALS))),$(word 2,$(CONTEXTKIT_GOALS))),)
  $(foreach CONTEXTKIT_V,$(CONTEXTKIT_FAMILIES) $(if $(filter-out context_,$(CONTEXTKIT_PREFIX)),$(addprefix \
    context_,$(CONTEXTKIT_FAMILIES))),$(eval $(CONTEXTKIT_V):: $(CONTEXTKIT_PREFIX)$(CONTEXTKIT_V:context_%=%) ;))
else # `make help verdicts`: the second goal is a word for help
  capsul% payload% handof% memor% verdic% subagen% hos% toolki% checkou%::
	@:
endif

# Set-up runs while this file is missing or older than what it was made from.
$(CONTEXTKIT_SET_UP): $(CONTEXTKIT_PLACE)/requirements.lock $(CONTEXTKIT_PLACE)/scripts/setup.py $(CONTEXTKIT_PLACE)/.venv/bin/python
	@python3 '$(CONTEXTKIT_DIR)/scripts/setup.py'
# Gone, or a link that leads nowhere: set-up runs again.
$(CONTEXTKIT_PLACE)/.venv/bin/python: ;

.RECIPEPREFIX := $(CONTEXTKIT_RECIPE_BEFORE)
.DEFAULT_GOAL := $(if $(CONTEXTKIT_ALONE),help,$(CONTEXTKIT_GOAL_BEFORE))
# A plain `make` where the host's Makefile has no line but ours.
ifeq ($(.DEFAULT_GOAL)$(MAKECMDGOALS)$(filter-out sh bash dash ksh zsh,$(notdir $(SHELL))),)
  override CONTEXTKIT_HASH := \#
  ifeq ($(shell grep -c '^[^$(CONTEXTKIT_HASH)]*[^$(CONTEXTKIT_HASH)[:space:]]' '$(firstword $(MAKEFILE_LIST))'),1)
    .DEFAULT_GOAL := context_help
  endif
endif

endif
