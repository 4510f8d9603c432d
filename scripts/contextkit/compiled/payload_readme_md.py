"""Compiled from templates/payload_readme.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1285807894494318942
name = 'payload_readme.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield "# Payloads\n\nLong output of subagents, kept out of the main agent's context. Each session has a folder of its own:\n\n    <session>/manifest.json                       what is stored, in order\n    <session>/<YYYYMMDD-HHMMSS>-<topic>.md        a payload: summary, full content, sources\n\n`make payload_store topic=… source=… < report.md` stores a text and prints a receipt; `make payload_show ref=…`\nprints it again; `make payload_list` lists them. Everything here is for one session: it is removed\nwhen the session ends or has been idle for 24 hours. Only this page is in git.\n"

blocks = {}
debug_info = ''