"""Compiled from templates/reminder_inbox.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 820535924370130780
name = 'reminder_inbox.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '# Remember later\n<!-- contextkit: format=1 -->\n\nNotes that should reappear in the next context capsule. `make remember_later m="…"` adds one,\n`make context_reminders` lists those that are open.\n\nOnce a note is in a capsule or in a branch notebook, mark it: `make reminder_done id=… into=…`.\n'

blocks = {}
debug_info = ''