"""Compiled from templates/synthesis.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1058552001038026949
name = 'synthesis.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_verdict = resolve('verdict')
    l_0_to_do = resolve('to_do')
    l_0_launched = resolve('launched')
    l_0_completed = resolve('completed')
    l_0_failed = resolve('failed')
    l_0_counts = resolve('counts')
    l_0_input = resolve('input')
    l_0_run = resolve('run')
    l_0_others = resolve('others')
    l_0_at = resolve('at')
    l_0_groups = resolve('groups')
    l_0_across = resolve('across')
    l_0_fixed = resolve('fixed')
    l_0_unchecked = resolve('unchecked')
    l_0_issues = resolve('issues')
    l_0_improvements = resolve('improvements')
    l_0_heat = resolve('heat')
    l_0_sources = resolve('sources')
    l_0_conflicts = resolve('conflicts')
    l_0_duplicates = resolve('duplicates')
    try:
        t_1 = environment.filters['joined']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'joined' found.")
    pass
    yield '# Synthesis\n\n**Verdict:** '
    yield str((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict))
    yield '\n'
    if (undefined(name='to_do') if l_0_to_do is missing else l_0_to_do):
        pass
        yield '**To do:** '
        yield str((undefined(name='to_do') if l_0_to_do is missing else l_0_to_do))
        yield '\n'
    yield '**Agents:** '
    yield str((undefined(name='launched') if l_0_launched is missing else l_0_launched))
    yield ' launched, '
    yield str((undefined(name='completed') if l_0_completed is missing else l_0_completed))
    yield ' completed, '
    yield str((undefined(name='failed') if l_0_failed is missing else l_0_failed))
    yield ' failed\n**Findings:** '
    yield str((undefined(name='counts') if l_0_counts is missing else l_0_counts))
    yield '\n**Reviewed:** '
    yield str((undefined(name='input') if l_0_input is missing else l_0_input))
    yield '\n'
    if (undefined(name='run') if l_0_run is missing else l_0_run):
        pass
        yield '**Run:** '
        yield str((undefined(name='run') if l_0_run is missing else l_0_run))
        yield '\n'
    if (undefined(name='others') if l_0_others is missing else l_0_others):
        pass
        yield '**From other machines:** '
        yield str((undefined(name='others') if l_0_others is missing else l_0_others))
        yield '\n'
    yield '**At:** '
    yield str((undefined(name='at') if l_0_at is missing else l_0_at))
    yield '\n\n## Findings by severity\n\n'
    if (undefined(name='groups') if l_0_groups is missing else l_0_groups):
        pass
        yield 'Confidence is the number of agents that report a finding: low for one, medium for two, high for three or more.\n\n'
    t_2 = 1
    for l_1_group in (undefined(name='groups') if l_0_groups is missing else l_0_groups):
        _loop_vars = {}
        pass
        yield '### '
        yield str(environment.getattr(l_1_group, 'severity'))
        yield '\n\n'
        for l_2_finding in environment.getattr(l_1_group, 'findings'):
            _loop_vars = {}
            pass
            yield '- **'
            yield str(environment.getattr(l_2_finding, 'title'))
            yield '** ('
            yield str(t_1(environment.getattr(environment.getattr(l_2_finding, 'of'), 'agents')))
            yield '; confidence '
            yield str(environment.getattr(environment.getattr(l_2_finding, 'of'), 'confidence'))
            yield str(environment.getattr(l_2_finding, 'marks'))
            yield ')'
            yield str(environment.getattr(l_2_finding, 'where'))
            yield '\n'
            if environment.getattr(environment.getattr(l_2_finding, 'of'), 'more'):
                pass
                yield '  It says: '
                yield str(environment.getattr(environment.getattr(l_2_finding, 'of'), 'more'))
                yield '\n'
            for l_3_fix in environment.getattr(l_2_finding, 'fixes'):
                _loop_vars = {}
                pass
                yield '  '
                yield str(l_3_fix)
                yield '\n'
            l_3_fix = missing
        l_2_finding = missing
        yield '\n'
        t_2 = 0
    l_1_group = missing
    if t_2:
        pass
        yield 'None.\n\n'
    if (undefined(name='across') if l_0_across is missing else l_0_across):
        pass
        yield '## Since the last run\n\n'
        yield str((undefined(name='across') if l_0_across is missing else l_0_across))
        yield '.\n\n'
        for l_1_gone in (undefined(name='fixed') if l_0_fixed is missing else l_0_fixed):
            _loop_vars = {}
            pass
            yield '- fixed: **'
            yield str(environment.getattr(l_1_gone, 'severity'))
            yield '** '
            yield str(environment.getattr(l_1_gone, 'title'))
            yield ' ('
            yield str(t_1(environment.getattr(l_1_gone, 'agents')))
            yield ')\n'
        l_1_gone = missing
        for l_1_missed in (undefined(name='unchecked') if l_0_unchecked is missing else l_0_unchecked):
            _loop_vars = {}
            pass
            yield '- not rechecked: **'
            yield str(environment.getattr(l_1_missed, 'severity'))
            yield '** '
            yield str(environment.getattr(l_1_missed, 'title'))
            yield ' ('
            yield str(t_1(environment.getattr(l_1_missed, 'agents')))
            yield ')\n'
        l_1_missed = missing
        yield '\n'
    yield '## Issues checklist\n\n'
    t_3 = 1
    for l_1_issue in (undefined(name='issues') if l_0_issues is missing else l_0_issues):
        _loop_vars = {}
        pass
        yield '- ['
        if environment.getattr(environment.getattr(l_1_issue, 'of'), 'counts_no_more'):
            pass
            yield 'x'
        else:
            pass
            yield ' '
        yield '] **'
        if environment.getattr(environment.getattr(l_1_issue, 'of'), 'severity'):
            pass
            yield str(environment.getattr(environment.getattr(l_1_issue, 'of'), 'severity'))
        else:
            pass
            yield 'unknown'
        yield '** | '
        yield str(environment.getattr(environment.getattr(l_1_issue, 'of'), 'key'))
        yield ' | '
        yield str(environment.getattr(l_1_issue, 'title'))
        yield '\n'
        t_3 = 0
    l_1_issue = missing
    if t_3:
        pass
        yield 'Nothing to do.\n'
    yield '\n## Improvements\n\n'
    if (undefined(name='improvements') if l_0_improvements is missing else l_0_improvements):
        pass
        yield 'Graded IMP: not a defect, but worth doing.\n\n'
    t_4 = 1
    for l_1_improvement in (undefined(name='improvements') if l_0_improvements is missing else l_0_improvements):
        _loop_vars = {}
        pass
        yield '- **'
        yield str(environment.getattr(l_1_improvement, 'title'))
        yield '** ('
        yield str(t_1(environment.getattr(environment.getattr(l_1_improvement, 'of'), 'agents')))
        yield str(environment.getattr(l_1_improvement, 'marks'))
        yield ')'
        yield str(environment.getattr(l_1_improvement, 'where'))
        yield '\n'
        t_4 = 0
    l_1_improvement = missing
    if t_4:
        pass
        yield 'None.\n'
    yield '\n## Heat map\n\n| agent | P0 | P1 | P2 | P3 | IMP | unknown | status |\n|---|---|---|---|---|---|---|---|\n'
    for l_1_row in (undefined(name='heat') if l_0_heat is missing else l_0_heat):
        _loop_vars = {}
        pass
        yield '| '
        yield str(environment.getattr(l_1_row, 'agent'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'cells'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'status'))
        yield ' |\n'
    l_1_row = missing
    yield '\n## Agent reports\n\nIn the same folder.\n\n'
    for l_1_source in (undefined(name='sources') if l_0_sources is missing else l_0_sources):
        _loop_vars = {}
        pass
        yield '- '
        yield str(environment.getattr(l_1_source, 'agent'))
        yield ': '
        yield str(environment.getattr(l_1_source, 'status'))
        yield ' ('
        yield str(environment.getattr(l_1_source, 'validation'))
        if environment.getattr(environment.getattr(l_1_source, 'review'), 'stated'):
            pass
            yield ', states '
            yield str(environment.getattr(environment.getattr(l_1_source, 'review'), 'stated'))
        yield ') — `'
        yield str(environment.getattr(l_1_source, 'name'))
        yield '`\n'
    l_1_source = missing
    yield '\n## Conflicts\n\n'
    t_5 = 1
    for l_1_conflict in (undefined(name='conflicts') if l_0_conflicts is missing else l_0_conflicts):
        _loop_vars = {}
        pass
        yield '- '
        yield str(l_1_conflict)
        yield '\n'
        t_5 = 0
    l_1_conflict = missing
    if t_5:
        pass
        yield 'None.\n'
    yield '\n## Possible duplicates\n\nApart from conflicts: in the same place, or worded alike. Each is counted separately.\n\n'
    t_6 = 1
    for l_1_pair in (undefined(name='duplicates') if l_0_duplicates is missing else l_0_duplicates):
        _loop_vars = {}
        pass
        yield '- '
        yield str(environment.getattr(l_1_pair, 'one'))
        yield ' — '
        yield str(environment.getattr(l_1_pair, 'other'))
        yield '\n'
        t_6 = 0
    l_1_pair = missing
    if t_6:
        pass
        yield 'None.\n'
    yield '\n<!-- contextkit: format=1 -->\n'

blocks = {}
debug_info = '3=38&4=40&5=43&7=46&8=52&9=54&10=56&11=59&13=61&14=64&16=67&20=69&24=73&25=77&27=79&28=83&29=92&30=95&32=97&33=101&41=111&44=114&46=116&47=120&49=127&50=131&56=141&57=145&64=169&68=173&69=177&78=190&79=194&86=202&87=206&92=221&93=225&102=234&103=238'