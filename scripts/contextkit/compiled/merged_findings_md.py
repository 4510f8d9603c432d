"""Compiled from templates/merged_findings.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1133844629632717271
name = 'merged_findings.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_merged = resolve('merged')
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
    yield '# Findings: merged\n**Task**: '
    yield str(t_3(environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'description')))
    yield '\n**Timestamp**: '
    yield str(t_3(environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'timestamp')))
    yield '\n**Status**: '
    yield str(t_3(environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'status')))
    yield '\n**Task ID**: '
    yield str(t_3(environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'task_id')))
    yield '\n**Sources**:\n'
    for l_1_part in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_1(environment.getattr(l_1_part, 'file')))
        yield ' - '
        yield str(t_3(environment.getattr(environment.getattr(l_1_part, 'finding'), 'status')))
        yield ' '
        yield str(t_3(environment.getattr(environment.getattr(l_1_part, 'finding'), 'timestamp')))
        yield ' by '
        yield str(t_1(environment.getattr(environment.getattr(l_1_part, 'finding'), 'agent')))
        yield ': '
        yield str(t_3(environment.getattr(environment.getattr(l_1_part, 'finding'), 'description')))
        yield '\n'
    l_1_part = missing
    if environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'facts_kept'):
        pass
        yield 'facts_kept: '
        yield str(environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'facts_kept'))
        yield '\n'
    yield '\n## Summary\n\n'
    for l_1_part in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'):
        _loop_vars = {}
        pass
        if environment.getattr(environment.getattr(l_1_part, 'finding'), 'summary'):
            pass
            yield '### From '
            yield str(t_1(environment.getattr(l_1_part, 'file')))
            yield '\n'
            yield str(t_4(environment.getattr(environment.getattr(l_1_part, 'finding'), 'summary')))
            yield '\n\n'
    l_1_part = missing
    yield '## Key Discoveries\n\n'
    l_1_loop = missing
    for l_1_part, l_1_loop in LoopContext(environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'), undefined):
        _loop_vars = {}
        pass
        if environment.getattr(environment.getattr(l_1_part, 'finding'), 'discoveries'):
            pass
            yield '### From '
            yield str(t_1(environment.getattr(l_1_part, 'file')))
            yield '\n'
            l_2_loop = missing
            for l_2_discovery, l_2_loop in LoopContext(environment.getattr(environment.getattr(l_1_part, 'finding'), 'discoveries'), undefined):
                _loop_vars = {}
                pass
                yield str(environment.getattr(l_2_loop, 'index'))
                yield '. '
                yield str(t_2(l_2_discovery, 4))
                yield '\n'
            l_2_loop = l_2_discovery = missing
            yield '\n'
    l_1_loop = l_1_part = missing
    yield '## Files Modified/Created\n\n'
    for l_1_part in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'):
        _loop_vars = {}
        pass
        if environment.getattr(environment.getattr(l_1_part, 'finding'), 'files'):
            pass
            yield '### From '
            yield str(t_1(environment.getattr(l_1_part, 'file')))
            yield '\n'
            for l_2_file in environment.getattr(environment.getattr(l_1_part, 'finding'), 'files'):
                _loop_vars = {}
                pass
                yield '- '
                yield str(t_1(t_3(environment.getattr(l_2_file, 'path'))))
                yield ' - '
                yield str(t_2(t_3(environment.getattr(l_2_file, 'note'))))
                yield '\n'
            l_2_file = missing
            yield '\n'
    l_1_part = missing
    yield '## Open Questions\n\n'
    for l_1_part in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'):
        _loop_vars = {}
        pass
        if environment.getattr(environment.getattr(l_1_part, 'finding'), 'questions'):
            pass
            yield '### From '
            yield str(t_1(environment.getattr(l_1_part, 'file')))
            yield '\n'
            for l_2_question in environment.getattr(environment.getattr(l_1_part, 'finding'), 'questions'):
                _loop_vars = {}
                pass
                yield '- '
                yield str(t_2(l_2_question))
                yield '\n'
            l_2_question = missing
            yield '\n'
    l_1_part = missing
    yield '## Recommendations\n\n'
    for l_1_part in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'):
        _loop_vars = {}
        pass
        if environment.getattr(environment.getattr(l_1_part, 'finding'), 'recommendations'):
            pass
            yield '### From '
            yield str(t_1(environment.getattr(l_1_part, 'file')))
            yield '\n'
            for l_2_recommendation in environment.getattr(environment.getattr(l_1_part, 'finding'), 'recommendations'):
                _loop_vars = {}
                pass
                yield '- '
                yield str(t_2(l_2_recommendation))
                yield '\n'
            l_2_recommendation = missing
            yield '\n'
    l_1_part = missing
    for l_1_part in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'parts'):
        _loop_vars = {}
        pass
        for l_2_extra in environment.getattr(environment.getattr(l_1_part, 'finding'), 'more'):
            _loop_vars = {}
            pass
            yield '## '
            yield str(environment.getattr(l_2_extra, 'heading'))
            yield '\n### From '
            yield str(t_1(environment.getattr(l_1_part, 'file')))
            yield '\n'
            yield str(t_4(environment.getattr(l_2_extra, 'text')))
            yield '\n\n'
        l_2_extra = missing
    l_1_part = missing
    for l_1_added in environment.getattr((undefined(name='merged') if l_0_merged is missing else l_0_merged), 'more'):
        _loop_vars = {}
        pass
        yield '## '
        yield str(environment.getattr(l_1_added, 'heading'))
        yield '\n'
        yield str(t_4(environment.getattr(l_1_added, 'text')))
        yield '\n\n'
    l_1_added = missing
    yield '<!-- contextkit: format=1 -->\n'

blocks = {}
debug_info = '2=37&3=39&4=41&5=43&7=45&8=49&10=60&11=63&16=66&17=69&18=72&19=74&25=79&26=82&27=85&28=88&29=91&36=99&37=102&38=105&39=107&40=111&47=119&48=122&49=125&50=127&51=131&58=137&59=140&60=143&61=145&62=149&67=154&68=157&69=161&70=163&71=165&75=169&76=173&77=175'