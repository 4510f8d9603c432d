"""Compiled from templates/agent_handoff.yaml.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 617208909670452570
name = 'agent_handoff.yaml'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_handoff = resolve('handoff')
    try:
        t_1 = environment.filters['quoted']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'quoted' found.")
    pass
    yield 'handoff:\n  from_agent: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'from_agent'), True))
    yield '\n  to_agent: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'to_agent'), True))
    yield '\n  story_context:\n    story_id: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'story_id'), True))
    yield '\n    story_path: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'story_path'), True))
    yield '\n    story_status: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'story_status'), True))
    yield '\n    current_task: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'current_task'), True))
    yield '\n    branch: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'branch'), True))
    yield '\n'
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'decisions'):
        pass
        yield '  decisions:\n'
        for l_1_decision in environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'decisions'):
            _loop_vars = {}
            pass
            yield '    - '
            yield str(t_1(l_1_decision, True))
            yield '\n'
        l_1_decision = missing
    else:
        pass
        yield '  decisions: []\n'
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'files_modified'):
        pass
        yield '  files_modified:\n'
        for l_1_path in environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'files_modified'):
            _loop_vars = {}
            pass
            yield '    - '
            yield str(t_1(l_1_path, True))
            yield '\n'
        l_1_path = missing
    else:
        pass
        yield '  files_modified: []\n'
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'blockers'):
        pass
        yield '  blockers:\n'
        for l_1_blocker in environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'blockers'):
            _loop_vars = {}
            pass
            yield '    - '
            yield str(t_1(l_1_blocker, True))
            yield '\n'
        l_1_blocker = missing
    else:
        pass
        yield '  blockers: []\n'
    yield '  next_action: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'next_action'), True))
    yield '\n'
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'rejected'):
        pass
        yield '  rejected:\n'
        for l_1_approach in environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'rejected'):
            _loop_vars = {}
            pass
            yield '    - '
            yield str(t_1(l_1_approach, True))
            yield '\n'
        l_1_approach = missing
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'resolved'):
        pass
        yield '  resolved:\n'
        for l_1_closed in environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'resolved'):
            _loop_vars = {}
            pass
            yield '    - '
            yield str(t_1(l_1_closed, True))
            yield '\n'
        l_1_closed = missing
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'last_command'):
        pass
        yield '  last_command: '
        yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'last_command'), True))
        yield '\n'
    yield '  version: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'version'), True))
    yield '\n  timestamp: '
    yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'timestamp'), True))
    yield '\n  sequence: '
    yield str(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'sequence'))
    yield '\n'
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'facts_kept'):
        pass
        yield '  facts_kept: '
        yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'facts_kept'), True))
        yield '\n'
    if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'session'):
        pass
        yield '  session: '
        yield str(t_1(environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'session'), True))
        yield '\n'
    yield '  consumed: '
    yield str(('true' if environment.getattr((undefined(name='handoff') if l_0_handoff is missing else l_0_handoff), 'consumed') else 'false'))
    yield '\n'

blocks = {}
debug_info = '2=19&3=21&5=23&6=25&7=27&8=29&9=31&10=33&12=36&13=40&18=46&20=49&21=53&26=59&28=62&29=66&34=73&35=75&37=78&38=82&41=85&43=88&44=92&47=95&48=98&50=101&51=103&52=105&53=107&54=110&56=112&57=115&59=118'