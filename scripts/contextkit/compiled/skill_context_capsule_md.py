"""Compiled from templates/skill_context_capsule.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 26641713214239626
name = 'skill_context_capsule.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '---\nname: context-capsule\ndescription: Write down what you know (intent, decisions, open threads with their sources) as a context capsule of at most 1,200 tokens for a fresh subagent, and keep notes for later. Use it before starting a subagent that must know what you know, at the end of a long discussion, and when something must not be forgotten but has no place in the plan yet.\n---\n\n# A context capsule for the next agent\n\nRun these from the root of the repository.\n\nGet the prompt, write the capsule it asks for, and keep it; what is wrong is said line by line and then nothing is written:\n\n    make -s capsule_prompt\n    make -s capsule_save < capsule.md\n\nStart a subagent that gets the newest capsule of this branch:\n\n    make -s subagent_launch slug=login-tests scope=docs/scope.md capsule=latest\n\n| to | run |\n|---|---|\n| save a note for the next capsule | `make -s remember_later m="The user wants small commits" topic=style` |\n| see the open notes | `make -s reminders` |\n| take one off the list | `make -s reminder_done id=r-1a2b3c` |\n\nLink each decision to its file, plan entry or commit in place of explaining it again. Leave secrets out.\n'

blocks = {}
debug_info = ''