"""Compiled from templates/skill_external_memory.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 160704635660878478
name = 'skill_external_memory.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '---\nname: external-memory\ndescription: Keep plans, findings, checkpoints and snapshots of a long task in files, and recover after a token limit, a compaction or a crash. Use it when the user says "save progress", before or after a complex decision, when a phase ends, before starting several agents, and when you are unsure what to do next.\n---\n\n# Working memory in files\n\nRun these from the root of the repository; `task` is a short name that you choose once.\n\n| when | run |\n|---|---|\n| a long task starts | `make -s memory_plan task=login objective="…" pending="step one | step two"` |\n| a question of the plan is answered | `make -s memory_plan task=login answered="2"` |\n| several agents are about to start | `make -s memory_spawn task=login agents="ui api docs"` |\n| something was found out | `make -s memory_finding agent=you task=login status=completed summary="…" discoveries="…"` |\n| an agent\'s report is there | `make -s memory_finding agent=ui task=login file=report.md` |\n| all findings are to be read as one | `make -s memory_merge task=login` |\n| a phase ends | `make -s memory_phase task=login to=implementation` |\n| "save progress", a complex decision | `make -s memory_checkpoint task=login phase=implementation summary="…" next_action="…"` |\n| the context is nearly full | `make -s memory_snapshot task=login summary="…" resume="…"` |\n| unsure how full it is | `make -s memory_status tokens=120000` |\n| after a compaction, a crash, or unsure what is next | `make -s memory_recover task=login` |\n| the task is done, or taken up again | `make -s memory_archive task=login`, `make -s memory_unarchive task=login` |\n\nPhases are exploration, planning, implementation, review; a finding is completed, partial or failed.\nThe first word of `memory_status` is `ok`, `warn` or `save`; at `save` write a checkpoint or a snapshot before anything else.\n`new task "…"` on stderr means that nothing is stored under this name: look whether you misspelled it.\nWork on from what `memory_recover` prints; it names the files to open and who is missing.\n'

blocks = {}
debug_info = ''