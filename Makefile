# contextkit: the only way in. `make help` lists what it can do.
# From a host's Makefile: include tools/contextkit/Makefile
#
# One line per target: the script and the command that it calls, and its help. What is typed behind a
# target (`m=…`) is an option of that command, read from its own table; nothing here names it.
# How a line becomes a target: scripts/gnu-make.mk.

##@ Capsules and reminders

contextkit.capsule_prompt = capsule_prompt       ## print the prompt that has your agent write a capsule
contextkit.capsule_check  = capsule check        ## check a capsule, one line per problem; seal=1 records what it refers to
contextkit.capsule_save   = capsule save         ## check your agent's reply (on standard input) and save it as the capsule
contextkit.capsule_latest = capsule latest       ## print the path of the branch's newest finished capsule
contextkit.capsule_list   = capsule list         ## list the branch's capsules; all=1 lists every branch
contextkit.capsule_show   = capsule show         ## print a capsule as a subagent gets it, and what has changed since
contextkit.capsule_prune  = capsule prune        ## remove superseded capsules and those of merged branches
contextkit.remember_later = remember_later       ## save a note for the next capsule: m="…"
contextkit.reminders      = remember_later list  ## list the open notes
contextkit.reminder_done  = remember_later done  ## mark a note as done: id=r-1a2b3c

##@ Payloads

contextkit.payload_store  = payload_store store   ## store a long text (on stdin), print a short receipt
contextkit.payload_list   = payload_store list    ## list what a session has stored
contextkit.payload_show   = payload_store show    ## print a payload or part of it: ref=latest part=content
contextkit.payload_find   = payload_store find    ## find lines in the payloads: q="two words"
contextkit.payload_end    = payload_store end     ## end a session: remove its payloads (it can be resumed for a day)
contextkit.payload_sweep  = payload_store sweep   ## end sessions that are no longer used
contextkit.payload_repair = payload_store repair  ## rebuild a session's manifest from its files
contextkit.run            = run run               ## run a command and shorten what it prints: c="pytest -q"

##@ Handoffs

contextkit.handoff         = handoff write    ## write a handoff artifact: from= to= next_action= story_id=
contextkit.handoff_switch  = handoff switch   ## switch agents: write the artifact, print the incoming agent's context: to=@qa
contextkit.handoff_context = handoff context  ## print an agent's context again: its profile and the artifacts: to=
contextkit.handoff_list    = handoff list     ## list the artifacts, oldest first
contextkit.handoff_show    = handoff show     ## print the newest artifact, or the one given by ref= or file=
contextkit.handoff_check   = handoff check    ## check an artifact or a draft: file=
contextkit.handoff_consume = handoff consume  ## mark the newest artifact, or the one given by ref= or file=, as used
contextkit.handoff_stats   = handoff stats    ## compare tokens with and without handoffs, per switch; profiles="a.md b.md …"
contextkit.handoff_undo    = handoff undo     ## take back the last switch: its artifact, and who is active
contextkit.handoff_reset   = handoff reset    ## deactivate the current agent; the next one starts without a handoff

##@ Memory

contextkit.memory_init       = external_memory init        ## create the store, which git ignores; every save does this too
contextkit.memory_plan       = external_memory plan        ## create or update a task's plan: task=
contextkit.memory_finding    = external_memory finding     ## save a subagent's finding: agent= task= status= summary=, or its report in file=
contextkit.memory_merge      = external_memory merge       ## merge a task's findings into one file: task=
contextkit.memory_checkpoint = external_memory checkpoint  ## record where a task stands: task= phase= summary= next_action=
contextkit.memory_phase      = external_memory phase       ## end the current phase with a checkpoint and begin the next: task= to=
contextkit.memory_batch      = external_memory batch       ## save the findings of a batch of agents, then one checkpoint: task= draft=
contextkit.memory_spawn      = external_memory spawn       ## record the agents that are about to start, and a checkpoint: task= agents=
contextkit.memory_snapshot   = external_memory snapshot    ## save what a conversation knows before its context is full: summary=
contextkit.memory_check      = external_memory check       ## find what would keep an agent from resuming, and how to fix it
contextkit.memory_status     = external_memory status      ## print ok, warn or save; saves a snapshot at the threshold: tokens= or transcript=
contextkit.memory_recover    = external_memory recover     ## print what a fresh agent needs to continue, within a budget; prompt=1 as a prompt
contextkit.memory_list       = external_memory list        ## list plans, findings, checkpoints and snapshots; worktree= lists another worktree's
contextkit.memory_archive    = external_memory archive     ## archive a finished task
contextkit.memory_unarchive  = external_memory unarchive   ## bring a task back from the archive: task=
contextkit.memory_clean      = external_memory clean       ## remove stale checkpoints; archive the last one of an open task
contextkit.memory_estimate   = external_memory estimate    ## the same as memory_status words= code_lines= file_reads= responses=

##@ Verdicts

contextkit.verdict_write      = verdict write       ## record a reviewer's verdict: agent= status= summary=
contextkit.verdict_read       = verdict read        ## print an agent's STATUS, MODEL and SUMMARY
contextkit.verdict_table      = verdict table       ## print the STATUS, AGENT and SUMMARY of every verdict; view=attention, count, tokens, stats
contextkit.verdict_count      = verdict count       ## the same as verdict_table view=count
contextkit.verdict_attention  = verdict attention   ## the same as verdict_table view=attention
contextkit.verdict_tokens     = verdict tokens      ## the same as verdict_table view=tokens
contextkit.verdict_init       = verdict init        ## create the store, which git ignores; writing does this too
contextkit.verdict_clean      = verdict clean       ## remove verdicts of this session or a run; all=1 at the start of a sprint
contextkit.verdict_start      = verdict start       ## start a review run and print how to launch each agent: process= agents="a b" target=
contextkit.verdict_runs       = verdict runs        ## list the open review runs; all=1 lists ended ones too
contextkit.verdict_end        = verdict end         ## end a run that nobody is waiting for; its files stay: run=
contextkit.verdict_retry      = verdict retry       ## ask a run's agent again, saying what was wrong: run= agent=
contextkit.verdict_recheck    = verdict recheck     ## after a fix: ask who has an open P0 or P1 about the changes since: run=
contextkit.verdict_dismiss    = verdict dismiss     ## dismiss a finding, recorded in git: run= finding=AGENT/ID reason=
contextkit.verdict_export     = verdict export      ## export a run's findings: run= format=sarif, github or markdown
contextkit.verdict_contract   = verdict contract    ## print how and where an agent has to write: run= agent=
contextkit.verdict_wait       = verdict wait        ## wait until every agent of a run has left its file: run=
contextkit.verdict_diff       = verdict diff        ## print what the branch and the working tree change, untracked files included
contextkit.verdict_ingest     = verdict ingest      ## read all agents' files, record their verdicts, print the table: run= or dir=
contextkit.verdict_index      = verdict index       ## list the findings of all indexes in one form: run= or dir=
contextkit.verdict_show       = verdict show        ## print a run's P0 and P1, an agent's sections, or one finding: run= agent=
contextkit.verdict_stats      = verdict stats       ## the same as verdict_table view=stats run=
contextkit.verdict_check      = verdict check       ## check an agent's file, one line per problem: file=
contextkit.verdict_synthesize = verdict synthesize  ## merge all reviews into synthesis.md and findings.json: run= or dir=
contextkit.verdict_gate       = verdict gate        ## print PASS or FAIL, with every reason: run= or dir=

##@ Subagents

contextkit.subagent_launch  = subagent_manager launch   ## start a subagent with scope, capsule and role: slug= cmd=
contextkit.subagent_prompt  = subagent_manager prompt   ## print the prompt a subagent would get; starts nothing
contextkit.subagent_status  = subagent_manager status   ## show each subagent: run time, log age, capsule, staleness
contextkit.subagent_monitor = subagent_manager monitor  ## watch the subagents until none is running
contextkit.subagent_finish  = subagent_manager finish   ## hand in a report (on standard input): agent= status= summary=
contextkit.subagent_abort   = subagent_manager abort    ## stop a running subagent: id=
contextkit.subagent_cleanup = subagent_manager cleanup  ## remove its sandbox and files, but never work that exists nowhere else: id=

##@ Hosts

contextkit.adopt   = adopt adopt    ## bring contextkit into a repository, or update its copy there: into=DIR
contextkit.unadopt = adopt unadopt  ## remove what adopt put in; documents stay: into=DIR
contextkit.doctor  = doctor         ## fire every installed hook, look for problems, and say how to fix them

##@ Toolkit

contextkit.context_help    = context help --host  ## print this list, from a host's Makefile too
contextkit.context_init    = context init         ## create the documented files that are missing; never overwrites yours
contextkit.context_config  = context config       ## list every limit and path, and where its value comes from
contextkit.context_trust   = context trust        ## show the settings that act (remotes, commands, keys, templates) and trust them; forget=1 revokes it
contextkit.context_status  = context status       ## show what needs doing, with its command; all=1 shows each system
contextkit.context_push    = context_sync push      ## send what is new to a remote: remote= (git remote or URL, file:// s3:// gs:// az://)
contextkit.context_pull    = context_sync pull      ## fetch what other machines sent; overwrites nothing: remote= from=
contextkit.context_remotes = context_sync remotes   ## list the machines of a remote; forget=MACHINE removes one
contextkit.context_show    = context show         ## open any document by address, path, unambiguous beginning or latest: ref=
contextkit.context_why     = context why          ## trace a document: what it was made from, who got it, what came of it: ref=
contextkit.context_search  = context search       ## search everything stored, archived and ended sessions included: q=…
contextkit.context_report  = context report       ## write a page of what was carried, open, stale or failed: open=1 text=1 file=
contextkit.context_sessions = context sessions    ## list sessions: tokens stored, injected, shown and saved; all=1 lists ended ones too
contextkit.context_eval    = evaluate model       ## measure what your own model can still answer from what is handed over: cmd="claude -p"
contextkit.context_day     = evaluate day         ## have your own agent do a day's work, with and without our hooks: cmd="claude -p" n=3
contextkit.context_ledger  = context events       ## list recorded events: ref= session= event= since=
contextkit.context_upgrade = adopt upgrade        ## update this copy and say what is new: to=DIR, a URL or a version
contextkit.session_end     = context session_end  ## end a session: its payloads and state go; one line stays in its summary: session=

# GNU make 4.0 and newer reads gnu-make.mk, an older one old-make.mk. BSD make takes a `$(…)` of
# several words for a variable that is not set, so that it reads scripts/make.mk.
include $(eval override CONTEXTKIT_ALONE = $(wildcard $(subst $(subst x,,x x),\ ,$(strip $(MAKEFILE_LIST)))))$(subst ?,\ ,$(dir $(subst $(subst x,,x x),?,$(or $(CONTEXTKIT_ALONE),$(if $(filter override,$(origin CONTEXTKIT_PLACED)),$(CONTEXTKIT_PLACED),$(lastword $(MAKEFILE_LIST)))))))scripts/$(if $(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),old-,gnu-)make.mk
