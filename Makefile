# contextkit: the only way in. `make help` lists what it can do.
# From a host's Makefile: include tools/contextkit/Makefile
#
# A line a target: the script and the command that it calls, and its help. What is typed behind a
# target (`m=…`) is an option of that command, read from its own table; nothing here names it.
# How a line becomes a target: scripts/gnu-make.mk.

##@ Capsules and reminders

contextkit.capsule_prompt = capsule_prompt       ## print the prompt that has your agent write a context capsule
contextkit.capsule_check  = capsule check        ## what is wrong with a capsule, line by line; seal=1 records what it refers to
contextkit.capsule_save   = capsule save         ## check the capsule that your agent replied (on standard input) and keep it
contextkit.capsule_latest = capsule latest       ## the path of the branch's newest finished capsule
contextkit.capsule_list   = capsule list         ## the capsules of the branch; all=1 of every branch
contextkit.capsule_show   = capsule show         ## the body of a capsule as a subagent gets it, and what changed since
contextkit.capsule_prune  = capsule prune        ## remove superseded capsules and those of merged branches
contextkit.remember_later = remember_later       ## keep a note for the next capsule: m="…"
contextkit.reminders      = remember_later list  ## the notes that are open
contextkit.reminder_done  = remember_later done  ## mark a note as taken up: id=r-1a2b3c

##@ Payloads

contextkit.payload_store  = payload_store store   ## store a long text (on standard input), answer with a short receipt
contextkit.payload_list   = payload_store list    ## what a session has stored
contextkit.payload_show   = payload_store show    ## print a payload or a part of it: ref=latest part=content
contextkit.payload_find   = payload_store find    ## every line of the payloads that holds a text: q=…
contextkit.payload_end    = payload_store end     ## end a session: its payloads go, and can be resumed for a day
contextkit.payload_sweep  = payload_store sweep   ## end the sessions that nobody uses any more
contextkit.payload_repair = payload_store repair  ## make a session's manifest again from its files

##@ Handoffs

contextkit.handoff         = handoff write    ## write what one agent leaves to the next: from= to= next_action= story_id=
contextkit.handoff_switch  = handoff switch   ## the same for the active agent, and the context of the incoming one: to=@qa
contextkit.handoff_context = handoff context  ## the context of an agent once more: its profile and the artifacts: to=
contextkit.handoff_list    = handoff list     ## the artifacts that are kept, oldest first
contextkit.handoff_show    = handoff show     ## the newest artifact, or that of ref= or file=
contextkit.handoff_check   = handoff check    ## what is wrong with an artifact or a draft: file=
contextkit.handoff_consume = handoff consume  ## mark the newest artifact, or that of ref= or file=, as acted upon
contextkit.handoff_stats   = handoff stats    ## tokens with and without handoffs, of the switches made here or of profiles="a.md b.md …"
contextkit.handoff_undo    = handoff undo     ## take back the last switch: its artifact and who is active
contextkit.handoff_reset   = handoff reset    ## no agent is active any more: the next one hands nothing over

##@ External memory

contextkit.memory_init       = external_memory init        ## make the folders of the store, which git does not see; every save does so too
contextkit.memory_plan       = external_memory plan        ## make the plan of a task, or work changes into it: task=
contextkit.memory_finding    = external_memory finding     ## keep what a subagent found out: agent= task= status= summary=, or its report in file=
contextkit.memory_merge      = external_memory merge       ## all findings of a task in one file, nothing lost and nothing twice: task=
contextkit.memory_checkpoint = external_memory checkpoint  ## record where a task stands: task= phase= summary= next_action=
contextkit.memory_phase      = external_memory phase       ## end the current phase with a checkpoint, begin the next: task= to=
contextkit.memory_batch      = external_memory batch       ## a finding for each agent of a batch, then one checkpoint: task= draft=
contextkit.memory_spawn      = external_memory spawn       ## agents are about to start: who is expected, and a checkpoint: task= agents=
contextkit.memory_snapshot   = external_memory snapshot    ## keep what a conversation knows, before it is full or handed over: summary=
contextkit.memory_check      = external_memory check       ## what will not help whoever resumes, a line a finding
contextkit.memory_status     = external_memory status      ## ok, warn or save; at the threshold it writes a snapshot: tokens= or transcript=
contextkit.memory_recover    = external_memory recover     ## what a fresh agent needs to go on, within a budget; prompt=1 as a prompt
contextkit.memory_list       = external_memory list        ## every plan, finding, checkpoint and snapshot; worktree= of another worktree
contextkit.memory_archive    = external_memory archive     ## move all that belongs to a finished task into the archive
contextkit.memory_unarchive  = external_memory unarchive   ## bring a task back from the archive: task=
contextkit.memory_clean      = external_memory clean       ## remove stale checkpoints; the last one of an open task is archived
contextkit.memory_estimate   = external_memory estimate    ## what something will cost in tokens: words= code_lines= file_reads= responses=

##@ Verdicts

contextkit.verdict_write      = verdict write       ## record what one reviewer concluded: agent= status= summary=
contextkit.verdict_read       = verdict read        ## STATUS, MODEL and SUMMARY of one agent
contextkit.verdict_table      = verdict table       ## STATUS, AGENT and SUMMARY, a line an agent
contextkit.verdict_count      = verdict count       ## how many of each status
contextkit.verdict_attention  = verdict attention   ## AGENT, FINDINGS and DETAIL of those to look at
contextkit.verdict_tokens     = verdict tokens      ## the tokens that all agents spent
contextkit.verdict_init       = verdict init        ## make the store, which git does not see; writing does so too
contextkit.verdict_clean      = verdict clean       ## remove verdicts of this session or a run, never what agents wrote; all=1 at a sprint's start
contextkit.verdict_start      = verdict start       ## set a review run up and print how each agent is launched, or launch=1: process= agents="a b" target=
contextkit.verdict_runs       = verdict runs        ## the review runs: age, state, who is done, the worst verdict; all=1 those that ended too
contextkit.verdict_end        = verdict end         ## end a run that nobody waits for any more; its files stay: run=
contextkit.verdict_retry      = verdict retry       ## ask an agent of a run once more, and say what was wrong: run= agent=
contextkit.verdict_dismiss    = verdict dismiss     ## a finding that is none, kept in git beside the target: run= finding=AGENT/ID reason=
contextkit.verdict_export     = verdict export      ## the findings of a run as sarif, github or markdown: run= format=
contextkit.verdict_contract   = verdict contract    ## how and where an agent has to write: run= agent=
contextkit.verdict_wait       = verdict wait        ## wait until each agent of a run has left its file: run=
contextkit.verdict_diff       = verdict diff        ## what the branch and the work tree change, each file once, untracked ones too
contextkit.verdict_ingest     = verdict ingest      ## read the files of all agents, write a verdict each, print the table: run= or dir=
contextkit.verdict_index      = verdict index       ## the indexes in one form, a line a finding: run= or dir=
contextkit.verdict_show       = verdict show        ## the P0 and P1 of a run, one agent's sections, or one finding: run= agent=
contextkit.verdict_stats      = verdict stats       ## what reading in full, by finding, by index or by line costs: run= or dir=
contextkit.verdict_check      = verdict check       ## what is wrong with the file of an agent, line by line: file=
contextkit.verdict_synthesize = verdict synthesize  ## put all reviews together, synthesis.md and findings.json: run= or dir=
contextkit.verdict_gate       = verdict gate        ## PASS or FAIL with every reason: run= or dir=

##@ Subagents

contextkit.subagent_launch  = subagent_manager launch   ## start a subagent with scope, capsule and role: slug= cmd=
contextkit.subagent_prompt  = subagent_manager prompt   ## the prompt that it would get; nothing is started
contextkit.subagent_status  = subagent_manager status   ## what became of each: run time, log age, capsule, staleness
contextkit.subagent_monitor = subagent_manager monitor  ## look again and again until none is running
contextkit.subagent_finish  = subagent_manager finish   ## hand in a report (on standard input): agent= status= summary=
contextkit.subagent_abort   = subagent_manager abort    ## end a running subagent: id=
contextkit.subagent_cleanup = subagent_manager cleanup  ## remove its sandbox and files, never work that is nowhere else: id=

##@ Hosts

contextkit.adopt   = adopt adopt    ## bring contextkit into a repository, or its copy there up to date: into=DIR
contextkit.unadopt = adopt unadopt  ## take out what adopt put in; documents stay: into=DIR
contextkit.doctor  = doctor         ## fire every installed hook, look for what is wrong, and say how to mend it

##@ The whole toolkit

contextkit.context_help    = context help --host  ## this list, from a host's Makefile too
contextkit.context_init    = context init         ## make the documented files that are missing; nothing of yours is overwritten
contextkit.context_config  = context config       ## every limit and place in force, and where its value comes from
contextkit.context_status  = context status       ## a line a system: what is stored, open or stale
contextkit.context_push    = context_sync push      ## send what is new here to a remote: remote= (a git remote or URL, file:// s3:// gs:// az://)
contextkit.context_pull    = context_sync pull      ## take what other machines sent; nothing here is overwritten: remote= from=
contextkit.context_remotes = context_sync remotes   ## the machines of a remote: when, how much, how old; forget=MACHINE removes one
contextkit.context_show    = context show         ## open any document by its address, a path, a beginning or latest: ref=
contextkit.context_why     = context why          ## a document's way: what it was made of, who got it, what they made of it: ref=
contextkit.context_search  = context search       ## search everything stored, also what was archived or has ended: q=…
contextkit.context_sessions = context sessions    ## a line a session: what was stored, handed over, shown and saved; all=1 those that ended too
contextkit.context_ledger  = context events       ## what happened to every document, an event a line: ref= session= event= since=
contextkit.context_upgrade = adopt upgrade        ## bring this copy up to date and say what is new: to=DIR, a URL or a version
contextkit.context_session = context session      ## which session this shell is in, and where that comes from
contextkit.session_end     = context session_end  ## end a session: its payloads and its state go, one line in its summary: session=

# GNU make 4.0 and newer reads gnu-make.mk, an older one old-make.mk. BSD make takes a `$(…)` of
# several words for a variable that is not set, so that it reads scripts/make.mk.
include $(eval override CONTEXTKIT_ALONE = $(wildcard $(subst $(subst x,,x x),\ ,$(strip $(MAKEFILE_LIST)))))$(subst ?,\ ,$(dir $(subst $(subst x,,x x),?,$(or $(CONTEXTKIT_ALONE),$(lastword $(MAKEFILE_LIST))))))scripts/$(if $(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),old-,gnu-)make.mk
