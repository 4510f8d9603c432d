"""Compiled from templates/merged_findings.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1489452500701831886
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
debug_info = '2=37&3=39&4=41&5=43&7=45&8=49&13=61&14=64&15=67&16=69&22=74&23=77&24=80&25=83&26=86&33=94&34=97&35=100&36=102&37=106&44=114&45=117&46=120&47=122&48=126&55=132&56=135&57=138&58=140&59=144&64=149&65=152&66=156&67=158&68=160&72=164&73=168&74=170'