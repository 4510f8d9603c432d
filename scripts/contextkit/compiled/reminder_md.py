"""Compiled from templates/reminder.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1929028735372489783
name = 'reminder.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_reminder = resolve('reminder')
    try:
        t_1 = environment.filters['indented']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'indented' found.")
    try:
        t_2 = environment.filters['joined']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'joined' found.")
    pass
    yield '## '
    yield str(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'taken'))
    yield ' <!-- '
    yield str(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'id'))
    yield ' -->\n'
    if environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'topic'):
        pass
        yield '- **Topic:** '
        yield str(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'topic'))
        yield '\n'
    yield '- **Note:** '
    yield str(t_1(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'note')))
    yield '\n'
    if environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'next_step'):
        pass
        yield '- **Next step:** '
        yield str(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'next_step'))
        yield '\n'
    if environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'tags'):
        pass
        yield '- **Tags:** '
        yield str(t_2(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'tags')))
        yield '\n'
    yield '<!-- end '
    yield str(environment.getattr((undefined(name='reminder') if l_0_reminder is missing else l_0_reminder), 'id'))
    yield ' -->\n'

blocks = {}
debug_info = '1=25&2=29&3=32&5=35&6=37&7=40&9=42&10=45&12=48'