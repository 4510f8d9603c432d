"""Compiled from templates/skill_verdicts.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 2129938076160129681
name = 'skill_verdicts.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '---\nname: verdicts\ndescription: Record what a reviewer concluded in one line, and read many reviewers as one table instead of all their prose. Use it when several agents review the same change or document, when you are one of them, and to decide which findings to open.\n---\n\n# Many reviewers, one table\n\nRun these from the root of the repository.\n\nAs the one who asked for reviews, read the folder they wrote into, and open only what is urgent:\n\n    make -s verdict_ingest dir=docs/review\n    make -s verdict_attention\n    make -s verdict_show agent=fd-safety finding=P0-1\n\nAs a reviewer, record your conclusion when you are done:\n\n    make -s verdict_write agent=your-name status=NEEDS_ATTENTION summary="Tokens are logged in plain text" \\\n      findings=3 detail=docs/review/your-name.md\n\n| to | run |\n|---|---|\n| see all of them | `make -s verdict_table` |\n| count them | `make -s verdict_count` |\n| look for mistakes in a review file | `make -s verdict_check file=docs/review/your-name.md` |\n\nA status is one of CLEAN, NEEDS_ATTENTION, BLOCKED, ERROR, COMPLETE, PARTIAL, FAILED.\n'

blocks = {}
debug_info = ''