"""Compiled from templates/research_synthesis.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 306890216238582463
name = 'research_synthesis.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_input = resolve('input')
    l_0_launched = resolve('launched')
    l_0_completed = resolve('completed')
    l_0_failed = resolve('failed')
    l_0_others = resolve('others')
    l_0_state = resolve('state')
    l_0_complete = resolve('complete')
    l_0_at = resolve('at')
    l_0_answer = resolve('answer')
    l_0_sources = resolve('sources')
    l_0_reports = resolve('reports')
    try:
        t_1 = environment.filters['joined']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'joined' found.")
    pass
    yield '# Synthesis\n\n**Question:** '
    yield str((undefined(name='input') if l_0_input is missing else l_0_input))
    yield '\n**Agents:** '
    yield str((undefined(name='launched') if l_0_launched is missing else l_0_launched))
    yield ' launched, '
    yield str((undefined(name='completed') if l_0_completed is missing else l_0_completed))
    yield ' completed, '
    yield str((undefined(name='failed') if l_0_failed is missing else l_0_failed))
    yield ' failed\n'
    if (undefined(name='others') if l_0_others is missing else l_0_others):
        pass
        yield '**From other machines:** '
        yield str((undefined(name='others') if l_0_others is missing else l_0_others))
        yield '\n'
    yield '**Confidence:** '
    yield str((undefined(name='state') if l_0_state is missing else l_0_state))
    yield ', '
    yield str((undefined(name='complete') if l_0_complete is missing else l_0_complete))
    yield ' with sources, confidence and no significant gap\n**At:** '
    yield str((undefined(name='at') if l_0_at is missing else l_0_at))
    yield '\n\n## Answer\n\nWhat the agents found, each heading with its first words. Their files, beside this one, have the rest.\n\n'
    t_2 = 1
    for l_1_finding in (undefined(name='answer') if l_0_answer is missing else l_0_answer):
        _loop_vars = {}
        pass
        yield '- **'
        yield str(environment.getattr(l_1_finding, 'title'))
        yield '** ('
        yield str(t_1(environment.getattr(l_1_finding, 'agents')))
        yield ')'
        if environment.getattr(l_1_finding, 'description'):
            pass
            yield ': '
            yield str(environment.getattr(l_1_finding, 'description'))
        yield '\n'
        t_2 = 0
    l_1_finding = missing
    if t_2:
        pass
        yield 'None of the agents answered.\n'
    yield '\n## Sources\n\n'
    t_3 = 1
    for l_1_source in (undefined(name='sources') if l_0_sources is missing else l_0_sources):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_1(environment.getattr(l_1_source, 'agents')))
        yield ': '
        yield str(environment.getattr(l_1_source, 'text'))
        yield '\n'
        t_3 = 0
    l_1_source = missing
    if t_3:
        pass
        yield 'None were named.\n'
    yield '\n## Confidence and gaps\n\n'
    for l_1_report in (undefined(name='reports') if l_0_reports is missing else l_0_reports):
        _loop_vars = {}
        pass
        yield '### '
        yield str(environment.getattr(environment.getattr(l_1_report, 'of'), 'agent'))
        yield '\n\n'
        yield str(environment.getattr(environment.getattr(l_1_report, 'of'), 'status'))
        if environment.getattr(l_1_report, 'why'):
            pass
            yield ' ('
            yield str(environment.getattr(l_1_report, 'why'))
            yield ')'
        yield ' — `'
        yield str(environment.getattr(environment.getattr(l_1_report, 'of'), 'name'))
        yield '`\n\n'
        if environment.getattr(l_1_report, 'confidence'):
            pass
            yield 'Confidence: '
            yield str(environment.getattr(l_1_report, 'confidence'))
            yield '\n\n'
        if environment.getattr(l_1_report, 'gaps'):
            pass
            yield 'Gaps: '
            yield str(environment.getattr(l_1_report, 'gaps'))
            yield '\n\n'
    l_1_report = missing
    yield '<!-- contextkit: format=1 -->\n'

blocks = {}
debug_info = '3=29&4=31&5=37&6=40&8=43&9=47&15=50&16=54&24=70&25=74&32=84&33=88&35=90&37=99&38=102&41=104&42=107'