"""Compiled from templates/research_plan.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 423726066346613522
name = 'research_plan.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_plan = resolve('plan')
    l_0_completed = resolve('completed')
    l_0_in_progress = resolve('in_progress')
    l_0_pending = resolve('pending')
    try:
        t_1 = environment.filters['item']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'item' found.")
    try:
        t_2 = environment.filters['known']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'known' found.")
    try:
        t_3 = environment.filters['prose']
    except KeyError:
        @internalcode
        def t_3(*unused):
            raise TemplateRuntimeError("No filter named 'prose' found.")
    pass
    yield '# Research Plan: '
    yield str(environment.getattr((undefined(name='plan') if l_0_plan is missing else l_0_plan), 'task_id'))
    yield '\n\n## Objective\n'
    yield str(t_3(t_2(environment.getattr((undefined(name='plan') if l_0_plan is missing else l_0_plan), 'objective'))))
    yield '\n\n## Strategy\n'
    yield str(t_3(t_2(environment.getattr((undefined(name='plan') if l_0_plan is missing else l_0_plan), 'strategy'))))
    yield '\n\n## Key Questions\n'
    for l_1_question in environment.getattr((undefined(name='plan') if l_0_plan is missing else l_0_plan), 'questions'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_1(environment.getattr(l_1_question, 'line')))
        yield '\n'
    l_1_question = missing
    yield '\n## Progress\n- Completed:'
    yield str((undefined(name='completed') if l_0_completed is missing else l_0_completed))
    yield '\n- In Progress:'
    yield str((undefined(name='in_progress') if l_0_in_progress is missing else l_0_in_progress))
    yield '\n- Pending:'
    yield str((undefined(name='pending') if l_0_pending is missing else l_0_pending))
    yield '\n\n## Constraints\n'
    for l_1_constraint in environment.getattr((undefined(name='plan') if l_0_plan is missing else l_0_plan), 'constraints'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_1(l_1_constraint))
        yield '\n'
    l_1_constraint = missing
    yield '\n## Next Actions\n'
    l_1_loop = missing
    for l_1_action, l_1_loop in LoopContext(environment.getattr((undefined(name='plan') if l_0_plan is missing else l_0_plan), 'next_actions'), undefined):
        _loop_vars = {}
        pass
        yield str(environment.getattr(l_1_loop, 'index'))
        yield '. '
        yield str(t_1(l_1_action, 4))
        yield '\n'
    l_1_loop = l_1_action = missing
    yield '\n<!-- contextkit: format=1 -->\n'

blocks = {}
debug_info = '1=34&4=36&7=38&10=40&11=44&15=48&16=50&17=52&20=54&21=58&25=63&26=66'