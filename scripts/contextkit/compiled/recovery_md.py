"""Compiled from templates/recovery.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1288995928107889055
name = 'recovery.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_task = resolve('task')
    l_0_parts = resolve('parts')
    l_0_left_out = resolve('left_out')
    pass
    yield '# Recovery: '
    yield str((undefined(name='task') if l_0_task is missing else l_0_task))
    yield '\n'
    for l_1_part in (undefined(name='parts') if l_0_parts is missing else l_0_parts):
        _loop_vars = {}
        pass
        yield '\n'
        if environment.getattr(l_1_part, 'heading'):
            pass
            yield '## '
            yield str(environment.getattr(l_1_part, 'heading'))
            yield '\n\n'
        yield str(environment.getattr(l_1_part, 'text'))
        yield '\n'
    l_1_part = missing
    if (undefined(name='left_out') if l_0_left_out is missing else l_0_left_out):
        pass
        yield '\n## Left out\n\n'
        for l_1_line in (undefined(name='left_out') if l_0_left_out is missing else l_0_left_out):
            _loop_vars = {}
            pass
            yield '- '
            yield str(l_1_line)
            yield '\n'
        l_1_line = missing

blocks = {}
debug_info = '1=15&2=17&4=21&5=24&8=26&10=29&14=32&15=36'