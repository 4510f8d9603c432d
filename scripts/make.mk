# For BSD make: a sentence, and only where one of our targets is asked for.
.for goal in ${.TARGETS:Mcapsule_*} ${.TARGETS:Mpayload_*} ${.TARGETS:Mhandoff} ${.TARGETS:Mhandoff_*} ${.TARGETS:Mmemory_*} ${.TARGETS:Mverdict_*} ${.TARGETS:Msubagent_*} ${.TARGETS:Mcontext_*} ${.TARGETS:Mremember_later} ${.TARGETS:Mreminders} ${.TARGETS:Mreminder_done} ${.TARGETS:Madopt} ${.TARGETS:Munadopt} ${.TARGETS:Mdoctor} ${.TARGETS:Msession_end} ${.TARGETS:Mrun}
.if !defined(CONTEXTKIT_SAID)
CONTEXTKIT_SAID = 1
.DEFAULT:
	@echo "contextkit needs GNU make 4.0 or newer: gmake ${.TARGETS}" >&2; exit 1
.endif
.endfor
