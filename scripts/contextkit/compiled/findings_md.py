"""Compiled from templates/findings.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 571524585963449512
name = 'findings.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_finding = resolve('finding')
    try:
        t_1 = environment.filters['code']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'code' found.")
    try:
        t_2 = environment.filters['item']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'item' found.")
    try:
        t_3 = environment.filters['known']
    except KeyError:
        @internalcode
        def t_3(*unused):
            raise TemplateRuntimeError("No filter named 'known' found.")
    try:
        t_4 = environment.filters['prose']
    except KeyError:
        @internalcode
        def t_4(*unused):
            raise TemplateRuntimeError("No filter named 'prose' found.")
    pass
    yield '# Findings: '
    yield str(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'agent'))
    yield '\n**Task**: '
    yield str(t_3(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'description')))
    yield '\n**Timestamp**: '
    yield str(t_3(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'timestamp')))
    yield '\n**Status**: '
    yield str(t_3(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'status')))
    yield '\n**Task ID**: '
    yield str(t_3(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'task_id')))
    yield '\n\n## Summary\n'
    yield str(t_4(t_3(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'summary'))))
    yield '\n\n## Key Discoveries\n'
    l_1_loop = missing
    for l_1_discovery, l_1_loop in LoopContext(environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'discoveries'), undefined):
        _loop_vars = {}
        pass
        yield str(environment.getattr(l_1_loop, 'index'))
        yield '. '
        yield str(t_2(l_1_discovery, 4))
        yield '\n'
    l_1_loop = l_1_discovery = missing
    yield '\n## Files Modified/Created\n'
    for l_1_file in environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'files'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_1(t_3(environment.getattr(l_1_file, 'path'))))
        yield ' - '
        yield str(t_2(t_3(environment.getattr(l_1_file, 'note'))))
        yield '\n'
    l_1_file = missing
    yield '\n## Open Questions\n'
    for l_1_question in environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'questions'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_2(l_1_question))
        yield '\n'
    l_1_question = missing
    yield '\n## Recommendations\n'
    for l_1_recommendation in environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'recommendations'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_2(l_1_recommendation))
        yield '\n'
    l_1_recommendation = missing
    for l_1_extra in environment.getattr((undefined(name='finding') if l_0_finding is missing else l_0_finding), 'more'):
        _loop_vars = {}
        pass
        yield '\n## '
        yield str(environment.getattr(l_1_extra, 'heading'))
        yield '\n'
        yield str(t_4(environment.getattr(l_1_extra, 'text')))
        yield '\n'
    l_1_extra = missing
    yield '\n<!-- contextkit: format=1 -->\n'

blocks = {}
debug_info = '1=37&2=39&3=41&4=43&5=45&8=47&11=50&12=53&16=59&17=63&21=69&22=73&26=77&27=81&29=84&31=88&32=90'