"""Compiled from templates/catch_up.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 854887367635605302
name = 'catch_up.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_requests = resolve('requests')
    l_0_earlier = resolve('earlier')
    l_0_lists = resolve('lists')
    l_0_last = resolve('last')
    try:
        t_1 = environment.filters['item']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'item' found.")
    pass
    if (undefined(name='requests') if l_0_requests is missing else l_0_requests):
        pass
        yield "The user's last requests, word for word"
        if (undefined(name='earlier') if l_0_earlier is missing else l_0_earlier):
            pass
            yield ' ('
            yield str((undefined(name='earlier') if l_0_earlier is missing else l_0_earlier))
            yield ' earlier ones are left out)'
        yield ':\n\n'
        for l_1_request in (undefined(name='requests') if l_0_requests is missing else l_0_requests):
            _loop_vars = {}
            pass
            yield '> '
            yield str(l_1_request)
            yield '\n\n'
        l_1_request = missing
    for l_1_part in (undefined(name='lists') if l_0_lists is missing else l_0_lists):
        _loop_vars = {}
        pass
        if environment.getattr(l_1_part, 'line'):
            pass
            yield str(environment.getattr(l_1_part, 'heading'))
            yield ': '
            yield str(environment.getattr(l_1_part, 'line'))
            yield str(environment.getattr(l_1_part, 'more'))
            yield '\n\n'
        else:
            pass
            yield str(environment.getattr(l_1_part, 'heading'))
            yield str(environment.getattr(l_1_part, 'more'))
            yield ':\n\n'
            for l_2_text in environment.getattr(l_1_part, 'texts'):
                _loop_vars = {}
                pass
                yield '- '
                yield str(t_1(l_2_text))
                yield '\n'
            l_2_text = missing
            yield '\n'
    l_1_part = missing
    if (undefined(name='last') if l_0_last is missing else l_0_last):
        pass
        yield 'The agent said last:\n\n> '
        yield str((undefined(name='last') if l_0_last is missing else l_0_last))
        yield '\n'

blocks = {}
debug_info = '1=21&2=24&4=30&5=34&9=37&10=40&11=42&14=49&16=52&17=56&22=61&25=64'