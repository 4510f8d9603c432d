"""Compiled from templates/error_stub.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 630251100220791258
name = 'error_stub.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_run = resolve('run')
    l_0_rows = resolve('rows')
    l_0_agent = resolve('agent')
    l_0_reason = resolve('reason')
    l_0_rest = resolve('rest')
    l_0_sentinel = resolve('sentinel')
    pass
    if (undefined(name='run') if l_0_run is missing else l_0_run):
        pass
        yield '<!-- run-uuid: '
        yield str((undefined(name='run') if l_0_run is missing else l_0_run))
        yield ' -->\n'
    yield '### Findings Index\n'
    for l_1_row in (undefined(name='rows') if l_0_rows is missing else l_0_rows):
        _loop_vars = {}
        pass
        yield str(l_1_row)
        yield '\n'
    l_1_row = missing
    yield 'Verdict: error\n\nThe agent '
    yield str((undefined(name='agent') if l_0_agent is missing else l_0_agent))
    yield ' '
    yield str((undefined(name='reason') if l_0_reason is missing else l_0_reason))
    yield '.\n'
    if (undefined(name='rest') if l_0_rest is missing else l_0_rest):
        pass
        yield '\n### What it had written\n\n'
        yield str((undefined(name='rest') if l_0_rest is missing else l_0_rest))
        yield '\n'
    yield '\n<!-- '
    yield str((undefined(name='sentinel') if l_0_sentinel is missing else l_0_sentinel))
    yield ' -->\n'

blocks = {}
debug_info = '1=17&2=20&5=23&6=26&10=30&11=34&15=37&18=40'