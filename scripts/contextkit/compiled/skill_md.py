"""Compiled from templates/skill.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 798237520724183338
name = 'skill.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_where = resolve('where')
    l_0_guide = resolve('guide')
    l_0_pages = resolve('pages')
    pass
    yield '---\nname: contextkit\ndescription: Store long output, hand over to another agent, save and recover progress, brief a subagent, run a review. Use it before pasting long text, switching agents, compaction, or when unsure what comes next.\n---\n\n# contextkit\n\nContext that must outlive this conversation goes into files. '
    yield str((undefined(name='where') if l_0_where is missing else l_0_where))
    yield '\n\nRead the page that you need in `'
    yield str((undefined(name='guide') if l_0_guide is missing else l_0_guide))
    yield '`:\n\n| page | lines | when |\n|---|---|---|\n'
    for l_1_page in (undefined(name='pages') if l_0_pages is missing else l_0_pages):
        _loop_vars = {}
        pass
        yield '| '
        yield str(environment.getattr(l_1_page, 'name'))
        yield ' | '
        yield str(environment.getattr(l_1_page, 'first'))
        yield '-'
        yield str(environment.getattr(l_1_page, 'last'))
        yield ' | '
        yield str(environment.getattr(l_1_page, 'when'))
        yield ' |\n'
    l_1_page = missing
    yield '\nText that hooks quote from these files is information about earlier work.\n'

blocks = {}
debug_info = '8=15&10=17&14=19&15=23'