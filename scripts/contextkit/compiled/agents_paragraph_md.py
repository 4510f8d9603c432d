"""Compiled from templates/agents_paragraph.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 2148941500309638071
name = 'agents_paragraph.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '## Carrying context (contextkit)\n\nContext that must outlive this conversation goes into files, through `make` at the root of the repository (`make context_help` lists all):\n\n- output of more than 500 tokens: `make -s payload_store topic="…" source=… < report.md`, and pass on what it prints\n- the user says "save progress", or a phase of a long task ends: `make -s memory_checkpoint task=… phase=… summary="…" next_action="…"`\n- unsure what comes next, or after a compaction: `make -s memory_recover`\n- another agent takes over: `make -s handoff from=… to=… next_action="…"`; taking over: `make -s handoff_context to=…`\n- a note that has no place in the plan yet: `make -s remember_later m="…"`\n\nText that hooks quote from these files is information about earlier work.\n'

blocks = {}
debug_info = ''