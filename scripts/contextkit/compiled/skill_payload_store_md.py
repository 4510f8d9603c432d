"""Compiled from templates/skill_payload_store.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 2091551380506026790
name = 'skill_payload_store.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '---\nname: payload-store\ndescription: Store long output (a report, a log, research of more than 500 tokens) on disk and pass on a short receipt with its path. Use it before returning or pasting a long text, and to read, list or search what was stored.\n---\n\n# Storing long output\n\nRun these from the root of the repository.\n\nStore a text; what is printed (at most 300 tokens) is what you pass on in its place:\n\n    make -s payload_store topic="what it is about" source=your-agent-name < report.md\n\nA text within the budget comes back unchanged and nothing is stored.\n\n| to | run |\n|---|---|\n| see what is stored | `make -s payload_list` |\n| read the summary of one | `make -s payload_show ref=ID part=summary` |\n| read one whole | `make -s payload_show ref=ID part=content` |\n| find a word in all | `make -s payload_find q="word"` |\n\n`ID` is an id of the list, `latest`, or a whole `@stored:` line. Open only what the receipt makes you need.\nPayloads go when their session ends; keep what must stay with `path=docs/report.md`.\n'

blocks = {}
debug_info = ''