"""Compiled from templates/recovery_facts.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 398748039217667518
name = 'recovery_facts.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_away = resolve('away')
    l_0_found = resolve('found')
    l_0_checkpoint = resolve('checkpoint')
    l_0_saved = resolve('saved')
    l_0_phase = resolve('phase')
    l_0_state = resolve('state')
    l_0_agents = resolve('agents')
    l_0_differences = resolve('differences')
    try:
        t_1 = environment.filters['item']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'item' found.")
    try:
        t_2 = environment.filters['joined']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'joined' found.")
    try:
        t_3 = environment.filters['prose']
    except KeyError:
        @internalcode
        def t_3(*unused):
            raise TemplateRuntimeError("No filter named 'prose' found.")
    pass
    if (undefined(name='away') if l_0_away is missing else l_0_away):
        pass
        yield '- Paths here are relative to '
        yield str((undefined(name='away') if l_0_away is missing else l_0_away))
        yield ', where its commands run\n'
    if environment.getattr((undefined(name='found') if l_0_found is missing else l_0_found), 'archived'):
        pass
        yield '- This task is archived: it was called done, or left until its last checkpoint was stale.\n'
    if (undefined(name='checkpoint') if l_0_checkpoint is missing else l_0_checkpoint):
        pass
        yield '- Checkpoint: '
        yield str(environment.getattr((undefined(name='found') if l_0_found is missing else l_0_found), 'checkpoint_path'))
        yield '\n- Saved: '
        yield str(environment.getattr((undefined(name='checkpoint') if l_0_checkpoint is missing else l_0_checkpoint), 'timestamp'))
        yield ', '
        yield str((undefined(name='saved') if l_0_saved is missing else l_0_saved))
        yield '\n- Phase: '
        yield str((undefined(name='phase') if l_0_phase is missing else l_0_phase))
        yield '\n'
    elif (not environment.getattr((undefined(name='found') if l_0_found is missing else l_0_found), 'empty')):
        pass
        yield '- Checkpoint: none '
        yield str(('that can be read' if environment.getattr((undefined(name='found') if l_0_found is missing else l_0_found), 'warnings') else 'yet'))
        yield '\n'
    for l_1_row in (undefined(name='state') if l_0_state is missing else l_0_state):
        _loop_vars = {}
        pass
        yield '- '
        yield str(environment.getattr(l_1_row, 'name'))
        yield ': '
        yield str(environment.getattr(l_1_row, 'which'))
        yield '\n'
    l_1_row = missing
    if environment.getattr((undefined(name='found') if l_0_found is missing else l_0_found), 'more_snapshots'):
        pass
        yield '- Other snapshots: '
        yield str(t_2(environment.getattr((undefined(name='found') if l_0_found is missing else l_0_found), 'more_snapshots')))
        yield '\n'
    if (undefined(name='agents') if l_0_agents is missing else l_0_agents):
        pass
        yield '- Agents: '
        yield str((undefined(name='agents') if l_0_agents is missing else l_0_agents))
        yield '\n'
    if (undefined(name='checkpoint') if l_0_checkpoint is missing else l_0_checkpoint):
        pass
        yield '\n'
        yield str(t_3(environment.getattr((undefined(name='checkpoint') if l_0_checkpoint is missing else l_0_checkpoint), 'context_summary')))
        yield '\n'
    l_1_loop = missing
    for l_1_text, l_1_loop in LoopContext((undefined(name='differences') if l_0_differences is missing else l_0_differences), undefined):
        _loop_vars = {}
        pass
        if environment.getattr(l_1_loop, 'first'):
            pass
            yield '\nCheckpoint and plan differ; the later one takes precedence:\n\n'
        yield '- '
        yield str(t_1(l_1_text))
        yield '\n'
    l_1_loop = l_1_text = missing

blocks = {}
debug_info = '1=37&2=40&4=42&7=45&8=48&9=50&10=54&11=56&12=59&14=61&15=65&17=70&18=73&20=75&21=78&23=80&25=83&27=86&28=89&33=93'