"""Compiled from templates/context_capsule_prompt.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 551245012615397872
name = 'context_capsule_prompt.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_capsule = resolve('capsule')
    l_0_outline = resolve('outline')
    pass
    yield '# Context capsule: the outline\n\nA capsule carries what an agent knows to the agent that takes over: distilled, with sources, within\n'
    yield str(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'token_budget'))
    yield " tokens. It complements the plan and progress notebooks; it replaces neither.\n\n`make capsule_prompt` prints the instruction that makes an agent fill in this outline; `stub=1` also\nwrites it as a file to start from, `plan_slug=…` names the notebooks where they differ from the branch.\nAn edited copy of this file is used in place of contextkit's own outline, word for word.\n\n"
    yield str((undefined(name='outline') if l_0_outline is missing else l_0_outline))
    yield '\n'

blocks = {}
debug_info = '4=14&10=16'