# For GNU make before 4.0, which macOS ships: a sentence, and only where one of our targets is asked for.
ifneq ($(or $(filter capsule_% payload_% handoff handoff_% memory_% verdict_% subagent_% context_% \
  remember_later reminders reminder_done adopt unadopt doctor session_end run,$(MAKECMDGOALS)),$(CONTEXTKIT_ALONE)),)
.DEFAULT:
	@echo "contextkit needs GNU make 4.0 or newer, this is $(MAKE_VERSION); on macOS: brew install make, then gmake" >&2; exit 1
endif
