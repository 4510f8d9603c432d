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

override CONTEXTKIT_TARGETS := capsule_prompt capsule_check capsule_save capsule_latest capsule_list capsule_show \
  capsule_prune remember_later reminders reminder_done \
  payload_store payload_list payload_show payload_find payload_end payload_sweep payload_repair \
  handoff handoff_switch handoff_context handoff_list handoff_show handoff_check handoff_consume handoff_stats handoff_reset \
  memory_init memory_plan memory_finding memory_merge memory_checkpoint memory_phase memory_batch memory_spawn \
  memory_snapshot memory_check memory_status memory_recover memory_list memory_archive memory_clean memory_estimate \
  verdict_write verdict_read verdict_table verdict_count verdict_attention verdict_tokens verdict_init verdict_clean \
  verdict_start verdict_contract verdict_wait verdict_diff \
  verdict_ingest verdict_index verdict_show verdict_stats verdict_check verdict_synthesize verdict_gate \
  subagent_launch subagent_prompt subagent_status subagent_monitor subagent_finish subagent_abort subagent_cleanup \
  adopt unadopt doctor \
  context_help context_init context_config context_status session_end
# In this checkout alone; a host keeps its own `help`, `test`, `clean` …
override CONTEXTKIT_OWN_TARGETS := $(if $(CONTEXTKIT_ALONE),help setup demo test test_platforms lint check \
  bench bench_tokens bench_secrets golden manual lock clean)
override CONTEXTKIT_GOALS := $(or $(MAKECMDGOALS),$(if $(CONTEXTKIT_ALONE),help))
override CONTEXTKIT_ASKED := $(filter $(CONTEXTKIT_TARGETS) $(CONTEXTKIT_OWN_TARGETS),$(CONTEXTKIT_GOALS))

# Every variable that a recipe below hands to a script.
override CONTEXTKIT_INPUTS := active agent agents all answered archive base blocked blockers branch budget capsule cmd \
  code_lines completed confidence constraints decisions description detail dir discoveries draft \
  dry_run file file_reads files files_changed finding findings findings_count folder force from host \
  hosts id important in_progress inline interval into iterations json keep key_findings legacy \
  lenient link m max_idle max_tokens merged mini mode model next_action next_actions next_step \
  no_reminders no_story objective older_than output_dir overwrite part path pending phase plain \
  plan_slug process profile profiles prompt purge q questions reason recommendations recovery redact \
  ref reminders responses restart resume role root run runtime_threshold scope seal session slug \
  source sources stat status story_id story_path story_status strategy strict stub summary \
  summary_file tag tags target task threshold timeout to tokens topic transcript type version words \
  workstream

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

.PHONY: capsule_prompt capsule_check capsule_save capsule_latest capsule_list capsule_show capsule_prune
.PHONY: remember_later reminders reminder_done

capsule_prompt: ## print the prompt that has your agent write a context capsule
	@$(call CONTEXTKIT_SCRIPT,capsule_prompt) --root="$$root" --branch="$$branch" --session="$$session" --file="$$file" --stub="$$stub" \
	  --plan-slug="$$plan_slug" --tokens="$$tokens" --reminders="$$reminders" --no-reminders="$$no_reminders" \
	  --version="$$version" --mini="$$mini" --workstream="$$workstream"

capsule_check: ## what is wrong with a capsule, line by line; seal=1 records what it refers to
	@$(call CONTEXTKIT_SCRIPT,capsule check) --root="$$root" --file="$$file" --branch="$$branch" --workstream="$$workstream" \
	  --seal="$$seal" --redact="$$redact" --json="$$json"

capsule_save: ## check the capsule that your agent replied (on standard input) and keep it
	@$(call CONTEXTKIT_SCRIPT,capsule save) --root="$$root" --file="$$file" --branch="$$branch" --overwrite="$$overwrite" --redact="$$redact"

capsule_latest: ## the path of the branch's newest finished capsule
	@$(call CONTEXTKIT_SCRIPT,capsule latest) --root="$$root" --branch="$$branch" --workstream="$$workstream" --json="$$json"

capsule_list: ## the capsules of the branch; all=1 of every branch
	@$(call CONTEXTKIT_SCRIPT,capsule list) --root="$$root" --branch="$$branch" --workstream="$$workstream" --all="$$all" --json="$$json"

capsule_show: ## the body of a capsule as a subagent gets it, and what changed since
	@$(call CONTEXTKIT_SCRIPT,capsule show) --root="$$root" --file="$$file" --branch="$$branch" --workstream="$$workstream" \
	  --max-tokens="$$max_tokens" --json="$$json"

capsule_prune: ## remove superseded capsules and those of merged branches
	@$(call CONTEXTKIT_SCRIPT,capsule prune) --root="$$root" --keep="$$keep" --older-than="$$older_than" --merged="$$merged" \
	  --dry-run="$$dry_run" --json="$$json"

remember_later: ## keep a note for the next capsule: m="…"
	@$(call CONTEXTKIT_SCRIPT,remember_later) --root="$$root" --message="$$m" --topic="$$topic" --next-step="$$next_step" --tags="$$tags" --file="$$file" --redact="$$redact"

reminders: ## the notes that are open
	@$(call CONTEXTKIT_SCRIPT,remember_later list) --root="$$root" --tag="$$tag" --topic="$$topic" --all="$$all" --file="$$file" --json="$$json"

reminder_done: ## mark a note as taken up: id=r-1a2b3c
	@$(call CONTEXTKIT_SCRIPT,remember_later done) --root="$$root" --id="$$id" --into="$$into" --file="$$file" --redact="$$redact"

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

##@ Handoffs

.PHONY: handoff handoff_switch handoff_context handoff_list handoff_show handoff_check handoff_consume handoff_stats handoff_reset

handoff: ## write what one agent leaves to the next: from= to= next_action= story_id=
	@$(call CONTEXTKIT_SCRIPT,handoff write) --root="$$root" --to="$$to" --from="$$from" --story-id="$$story_id" \
	  --story-path="$$story_path" --story-status="$$story_status" --task="$$task" --branch="$$branch" \
	  --decisions="$$decisions" --files="$$files" --blockers="$$blockers" --next-action="$$next_action" \
	  --draft="$$draft" --no-story="$$no_story" --strict="$$strict" --redact="$$redact"

handoff_switch: ## the same for the active agent, and the context of the incoming one: to=@qa
	@$(call CONTEXTKIT_SCRIPT,handoff switch) --root="$$root" --to="$$to" --profile="$$profile" --from="$$from" \
	  --story-id="$$story_id" --story-path="$$story_path" --story-status="$$story_status" --task="$$task" \
	  --branch="$$branch" --decisions="$$decisions" --files="$$files" --blockers="$$blockers" \
	  --next-action="$$next_action" --draft="$$draft" --no-story="$$no_story" --strict="$$strict" --redact="$$redact"

handoff_context: ## the context of an agent once more: its profile and the artifacts: to=
	@$(call CONTEXTKIT_SCRIPT,handoff context) --root="$$root" --to="$$to" --profile="$$profile" --json="$$json"

handoff_list: ## the artifacts that are kept, oldest first
	@$(call CONTEXTKIT_SCRIPT,handoff list) --root="$$root" --json="$$json"

handoff_show: ## the newest artifact, or that of ref= or file=
	@$(call CONTEXTKIT_SCRIPT,handoff show) --root="$$root" --ref="$$ref" --file="$$file" --json="$$json"

handoff_check: ## what is wrong with an artifact or a draft: file=
	@$(call CONTEXTKIT_SCRIPT,handoff check) --root="$$root" --ref="$$ref" --file="$$file" --json="$$json"

handoff_consume: ## mark the newest artifact, or that of ref= or file=, as acted upon
	@$(call CONTEXTKIT_SCRIPT,handoff consume) --root="$$root" --ref="$$ref" --file="$$file"

handoff_stats: ## tokens with and without handoffs, of the switches made here or of profiles="a.md b.md …"
	@$(call CONTEXTKIT_SCRIPT,handoff stats) --root="$$root" --profiles="$$profiles" --tokens="$$tokens" --json="$$json"

handoff_reset: ## no agent is active any more: the next one hands nothing over
	@$(call CONTEXTKIT_SCRIPT,handoff reset) --root="$$root"

##@ External memory

.PHONY: memory_init memory_plan memory_finding memory_merge memory_checkpoint memory_phase memory_batch memory_spawn

memory_init: ## make the folders of the store, which git does not see; every save does so too
	@$(call CONTEXTKIT_SCRIPT,external_memory init) --root="$$root"

memory_plan: ## make the plan of a task, or work changes into it: task=
	@$(call CONTEXTKIT_SCRIPT,external_memory plan) --root="$$root" --task="$$task" --objective="$$objective" --strategy="$$strategy" \
	  --questions="$$questions" --answered="$$answered" --completed="$$completed" --in-progress="$$in_progress" --pending="$$pending" \
	  --constraints="$$constraints" --next-actions="$$next_actions" --draft="$$draft" --redact="$$redact"

memory_finding: ## keep what a subagent found out: agent= task= status= summary=, or its report in file=
	@$(call CONTEXTKIT_SCRIPT,external_memory finding) --root="$$root" --agent="$$agent" --task="$$task" --file="$$file" \
	  --description="$$description" --status="$$status" --summary="$$summary" --discoveries="$$discoveries" --files="$$files" \
	  --questions="$$questions" --recommendations="$$recommendations" --draft="$$draft" --redact="$$redact"

memory_merge: ## all findings of a task in one file, nothing lost and nothing twice: task=
	@$(call CONTEXTKIT_SCRIPT,external_memory merge) --root="$$root" --task="$$task" --archive="$$archive"

memory_checkpoint: ## record where a task stands: task= phase= summary= next_action=
	@$(call CONTEXTKIT_SCRIPT,external_memory checkpoint) --root="$$root" --task="$$task" --phase="$$phase" --completed="$$completed" \
	  --pending="$$pending" --active="$$active" --blocked="$$blocked" --findings-count="$$findings_count" --summary="$$summary" \
	  --next-action="$$next_action" --recovery="$$recovery" --files="$$files" --redact="$$redact"

memory_phase: ## end the current phase with a checkpoint, begin the next: task= to=
	@$(call CONTEXTKIT_SCRIPT,external_memory phase) --root="$$root" --task="$$task" --to="$$to" --completed="$$completed" \
	  --pending="$$pending" --active="$$active" --blocked="$$blocked" --findings-count="$$findings_count" --summary="$$summary" \
	  --next-action="$$next_action" --recovery="$$recovery" --files="$$files" --redact="$$redact"

memory_batch: ## a finding for each agent of a batch, then one checkpoint: task= draft=
	@$(call CONTEXTKIT_SCRIPT,external_memory batch) --root="$$root" --task="$$task" --draft="$$draft" --redact="$$redact"

memory_spawn: ## a checkpoint before a large batch of agents starts: task= agents=N
	@$(call CONTEXTKIT_SCRIPT,external_memory spawn) --root="$$root" --task="$$task" --agents="$$agents" --redact="$$redact"

.PHONY: memory_snapshot memory_check memory_status memory_recover memory_list memory_archive memory_clean memory_estimate

memory_snapshot: ## keep what a conversation knows, before it is full or handed over: summary=
	@$(call CONTEXTKIT_SCRIPT,external_memory snapshot) --root="$$root" --reason="$$reason" --tokens="$$tokens" --task="$$task" \
	  --phase="$$phase" --agents="$$agents" --summary="$$summary" --important="$$important" --files="$$files" --decisions="$$decisions" \
	  --resume="$$resume" --redact="$$redact"

memory_check: ## what will not help whoever resumes, a line a finding
	@$(call CONTEXTKIT_SCRIPT,external_memory check) --root="$$root" --task="$$task" --json="$$json"

memory_status: ## ok, warn or save; at the threshold it writes a snapshot: tokens= or transcript=
	@$(call CONTEXTKIT_SCRIPT,external_memory status) --root="$$root" --tokens="$$tokens" --file="$$file" --transcript="$$transcript" \
	  --task="$$task" --summary="$$summary" --json="$$json"

memory_recover: ## what a fresh agent needs to go on, within a budget; prompt=1 as a prompt
	@$(call CONTEXTKIT_SCRIPT,external_memory recover) --root="$$root" --task="$$task" --budget="$$budget" --prompt="$$prompt" \
	  --json="$$json"

memory_list: ## every plan, finding, checkpoint and snapshot
	@$(call CONTEXTKIT_SCRIPT,external_memory list) --root="$$root" --task="$$task" --json="$$json"

memory_archive: ## move all that belongs to a finished task into the archive
	@$(call CONTEXTKIT_SCRIPT,external_memory archive) --root="$$root" --task="$$task"

memory_clean: ## remove stale checkpoints; the last one of an open task is archived
	@$(call CONTEXTKIT_SCRIPT,external_memory clean) --root="$$root" --dry-run="$$dry_run"

memory_estimate: ## what something will cost in tokens: words= code_lines= file_reads= responses=
	@$(call CONTEXTKIT_SCRIPT,external_memory estimate) --root="$$root" --words="$$words" --code-lines="$$code_lines" \
	  --file-reads="$$file_reads" --responses="$$responses" --file="$$file" --json="$$json"

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

##@ Subagents

.PHONY: subagent_launch subagent_prompt subagent_status subagent_monitor subagent_finish subagent_abort subagent_cleanup

subagent_launch: ## start a subagent with scope, capsule and role: slug= cmd=
	@$(call CONTEXTKIT_SCRIPT,subagent_manager launch) --root="$$root" --slug="$$slug" --role="$$role" --scope="$$scope" \
	  --capsule="$$capsule" --workstream="$$workstream" --cmd="$$cmd" --type="$$type" --timeout="$$timeout" \
	  --max-tokens="$$max_tokens" --redact="$$redact"

subagent_prompt: ## the prompt that it would get; nothing is started
	@$(call CONTEXTKIT_SCRIPT,subagent_manager prompt) --root="$$root" --slug="$$slug" --role="$$role" --scope="$$scope" \
	  --capsule="$$capsule" --workstream="$$workstream" --cmd="$$cmd" --type="$$type" --timeout="$$timeout" \
	  --max-tokens="$$max_tokens" --redact="$$redact"

subagent_status: ## what became of each: run time, log age, capsule, staleness
	@$(call CONTEXTKIT_SCRIPT,subagent_manager status) --root="$$root" --id="$$id" --all="$$all" --json="$$json"

subagent_monitor: ## look again and again until none is running
	@$(call CONTEXTKIT_SCRIPT,subagent_manager monitor) --root="$$root" --id="$$id" --interval="$$interval" \
	  --iterations="$$iterations" --threshold="$$threshold" --runtime-threshold="$$runtime_threshold" --json="$$json"

subagent_finish: ## hand in a report (on standard input): agent= status= summary=
	@$(call CONTEXTKIT_SCRIPT,subagent_manager finish) --root="$$root" --agent="$$agent" --status="$$status" \
	  --summary="$$summary" --file="$$file" --id="$$id" --session="$$session" --type="$$type" --model="$$model" \
	  --files-changed="$$files_changed" --tokens="$$tokens"

subagent_abort: ## end a running subagent: id=
	@$(call CONTEXTKIT_SCRIPT,subagent_manager abort) --root="$$root" --id="$$id" --reason="$$reason" --force="$$force"

subagent_cleanup: ## remove its sandbox and files, never work that is nowhere else: id=
	@$(call CONTEXTKIT_SCRIPT,subagent_manager cleanup) --root="$$root" --id="$$id" --reason="$$reason" --force="$$force"

##@ Hosts

.PHONY: adopt unadopt doctor

adopt: ## bring contextkit into a repository, or its copy there up to date: into=DIR
	@$(call CONTEXTKIT_SCRIPT,adopt adopt) --root="$$root" --into="$$into" --hosts="$$hosts" --dir="$$dir" --link="$$link" --dry-run="$$dry_run"

unadopt: ## take out what adopt put in; documents stay: into=DIR
	@$(call CONTEXTKIT_SCRIPT,adopt unadopt) --root="$$root" --into="$$into" --hosts="$$hosts" --dir="$$dir" --link="$$link" --dry-run="$$dry_run"

doctor: ## fire every installed hook, look for what is wrong, and say how to mend it
	@$(call CONTEXTKIT_SCRIPT,doctor) --root="$$root" --host="$$host" --json="$$json"

##@ The whole toolkit

.PHONY: context_help context_init context_config context_status session_end

context_help: ## this list, from a host's Makefile too
	@$(CONTEXTKIT_FORGET) python3 -S "$(CONTEXTKIT_DIR)/scripts/context.py" help --host="$(if $(CONTEXTKIT_ALONE),,1)" --root="$$root"

context_init: ## make the documented files that are missing; nothing of yours is overwritten
	@$(call CONTEXTKIT_SCRIPT,context init) --root="$$root" --dry-run="$$dry_run"

context_config: ## every limit and place in force, and where its value comes from
	@$(call CONTEXTKIT_SCRIPT,context config) --root="$$root" --json="$$json"

context_status: ## a line a system: what is stored, open or stale
	@$(call CONTEXTKIT_SCRIPT,context status) --root="$$root" --json="$$json"

session_end: ## end a session: its payloads and its state go, one line in its summary: session=
	@$(call CONTEXTKIT_SCRIPT,context session_end) --root="$$root" --session="$$session"

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

test_platforms: ## demo and tests in Debian roots, with other Pythons, gits and makes (needs root): folder=DIR keeps them
	@python3 "$(CONTEXTKIT_DIR)/tests/platforms.py" "$$folder"

lint: $(CONTEXTKIT_DEVELOPMENT) ## style and types
	@$(CONTEXTKIT_HERE) .venv/bin/python -m ruff check && .venv/bin/python -m ruff format --check && .venv/bin/python -m mypy

check: test lint ## both

bench: $(CONTEXTKIT_DEVELOPMENT) ## what each command costs, as a ratio to a bare interpreter
	@"$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/tests/bench/commands.py"

bench_tokens: $(CONTEXTKIT_DEVELOPMENT) ## the token estimator against an exact counter: folder=DIR
	@"$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/tests/bench/estimator.py" "$$folder"

bench_secrets: $(CONTEXTKIT_DEVELOPMENT) ## what of planted secrets is found, and what is flagged that is none: folder=DIR
	@"$(CONTEXTKIT_PYTHON)" "$(CONTEXTKIT_DIR)/tests/bench/secret_rates.py" "$$folder"

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
