"""Compiled from templates/wrapper.mk.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1259470457433875658
name = 'wrapper.mk'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_version = resolve('version')
    l_0_commit = resolve('commit')
    l_0_short = resolve('short')
    l_0_origin = resolve('origin')
    pass
    yield '# contextkit '
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield ', pinned by its commit hash. The toolkit itself is installed once for all your projects, in\n# $XDG_DATA_HOME/contextkit (~/.local/share/contextkit). In a new clone, the first of its targets that\n# you run fetches it there. Made by `make adopt`, renewed by `make context_upgrade`.\n\nifneq ($(origin CONTEXTKIT_PIN),override)\noverride CONTEXTKIT_PIN := '
    yield str((undefined(name='commit') if l_0_commit is missing else l_0_commit))
    yield '\noverride CONTEXTKIT_WRAPPER := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))\noverride CONTEXTKIT_DATA := $(or $(XDG_DATA_HOME),$(HOME)/.local/share)/contextkit/'
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield '\n# A space in a path is `\\ ` where make would take what is behind it for another one.\noverride CONTEXTKIT_HOME = $(subst $(subst x,,x x),\\ ,$(CONTEXTKIT_DATA))\nifeq ($(wildcard $(CONTEXTKIT_HOME)/pinned-$(CONTEXTKIT_PIN)),)\n  override CONTEXTKIT_DATA := $(CONTEXTKIT_DATA)$(if $(wildcard $(CONTEXTKIT_HOME) \\\n    $(CONTEXTKIT_HOME)-'
    yield str((undefined(name='short') if l_0_short is missing else l_0_short))
    yield '/pinned-$(CONTEXTKIT_PIN)),-'
    yield str((undefined(name='short') if l_0_short is missing else l_0_short))
    yield ")\nendif\noverride CONTEXTKIT_PLACED := $(CONTEXTKIT_DATA)/Makefile\noverride CONTEXTKIT_OWN_PREFIX := $(if $(filter file override,$(origin CONTEXTKIT_PREFIX)),\\\n  $(addsuffix %,$(strip $(CONTEXTKIT_PREFIX))))\nifneq ($(wildcard $(CONTEXTKIT_HOME)/pinned-$(CONTEXTKIT_PIN)),)\n  include $(CONTEXTKIT_HOME)/Makefile\nelse ifneq ($(filter capsule_% payload_% handoff handoff_% memory_% verdict_% subagent_% context_% \\\n  remember_later reminders reminder_done unadopt doctor session_end run $(CONTEXTKIT_OWN_PREFIX),$(MAKECMDGOALS)),)\n  # What was typed is not expanded on the way (scripts/gnu-make.mk of the toolkit says how).\n  $(foreach CONTEXTKIT_V,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(CONTEXTKIT_V)))),\\\n    $(eval override export $(CONTEXTKIT_V) := $$(value $(CONTEXTKIT_V)))))\n  # Found by families, so that make prefers a target of yours, and then fetches nothing.\n  override CONTEXTKIT_FIRST := $(firstword $(MAKEFILE_LIST))\n  override CONTEXTKIT_MISSING := $(addprefix contextkit-,$(MAKECMDGOALS))\n  $(foreach CONTEXTKIT_V,capsule_% payload_% handof% memory_% verdict_% subagent_% context_% remember_% \\\n    reminder% unado% docto% session_% ru% $(CONTEXTKIT_OWN_PREFIX),$(eval $(CONTEXTKIT_V):: contextkit-$(CONTEXTKIT_V) ;))\n  .PHONY: contextkit-fetched $(CONTEXTKIT_MISSING)\n  contextkit-fetched $(CONTEXTKIT_MISSING): override private SHELL := /bin/sh\n  contextkit-fetched $(CONTEXTKIT_MISSING): override private .SHELLFLAGS := -c\n  contextkit-fetched:\n\t+@echo 'contextkit: fetching "
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield ", once for all projects, into $(subst ','\\'',$(CONTEXTKIT_DATA))/' >&2\n\t+@sh '$(CONTEXTKIT_WRAPPER)/install.sh' '"
    yield str((undefined(name='origin') if l_0_origin is missing else l_0_origin))
    yield "' "
    yield str((undefined(name='commit') if l_0_commit is missing else l_0_commit))
    yield ' '
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield " >/dev/null\n  $(CONTEXTKIT_MISSING): contextkit-fetched\n\t@$(MAKE) --no-print-directory -f '$(CONTEXTKIT_FIRST)' '$(@:contextkit-%=%)'\nendif\nendif\n"

blocks = {}
debug_info = '1=16&6=18&8=20&13=22&34=26&35=28'