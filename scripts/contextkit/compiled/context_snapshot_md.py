"""Compiled from templates/context_snapshot.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1519029840017407573
name = 'context_snapshot.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_snapshot = resolve('snapshot')
    l_0_tokens = resolve('tokens')
    l_0_agents = resolve('agents')
    l_0_digests = resolve('digests')
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
    yield '# Context Snapshot\n**Timestamp**: '
    yield str(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'timestamp')))
    yield '\n**Token Count**: ~'
    yield str(t_3((undefined(name='tokens') if l_0_tokens is missing else l_0_tokens)))
    yield '\n**Reason**: '
    yield str(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'reason')))
    yield '\n**Task ID**: '
    yield str(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'task_id')))
    yield '\n'
    if environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'session'):
        pass
        yield '**Session**: '
        yield str(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'session'))
        yield '\n'
    if environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'facts_kept'):
        pass
        yield 'facts_kept: '
        yield str(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'facts_kept'))
        yield '\n'
    yield '\n## Conversation Summary\n'
    yield str(t_4(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'summary'))))
    yield '\n\n## Current State\n- Task: '
    yield str(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'task')))
    yield '\n- Phase: '
    yield str(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'phase')))
    yield '\n- Agents: '
    yield str(t_3((undefined(name='agents') if l_0_agents is missing else l_0_agents)))
    yield '\n\n## Important Context\n'
    yield str(t_4(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'important'))))
    yield '\n\n## Files in Play\n'
    for l_1_file in environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'files'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_1(t_3(environment.getattr(l_1_file, 'path'))))
        yield ' - '
        yield str(t_2(t_3(environment.getattr(l_1_file, 'note'))))
        yield '\n'
    l_1_file = missing
    yield '\n## Pending Decisions\n'
    for l_1_text in environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'decisions'):
        _loop_vars = {}
        pass
        yield '- '
        yield str(t_2(l_1_text))
        yield '\n'
    l_1_text = missing
    yield '\n## Resume Instructions\n'
    yield str(t_4(t_3(environment.getattr((undefined(name='snapshot') if l_0_snapshot is missing else l_0_snapshot), 'resume'))))
    yield '\n\n<!-- contextkit: format=1 -->\n'
    if (undefined(name='digests') if l_0_digests is missing else l_0_digests):
        pass
        yield str((undefined(name='digests') if l_0_digests is missing else l_0_digests))
        yield '\n'

blocks = {}
debug_info = '2=40&3=42&4=44&5=46&6=48&7=51&9=53&10=56&14=59&17=61&18=63&19=65&22=67&25=69&26=73&30=79&31=83&35=87&38=89&39=91'