"""Compiled from templates/payload.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 326638012626419987
name = 'payload.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_payload = resolve('payload')
    l_0_bytes = resolve('bytes')
    l_0_sha256 = resolve('sha256')
    l_0_format = resolve('format')
    pass
    yield '# '
    yield str(environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'topic'))
    yield '\n\n**Generated:** '
    yield str(environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'created_at'))
    yield '\n**Source:** '
    yield str(environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'source'))
    yield '\n**Tokens:** '
    yield str(environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'tokens'))
    yield '\n\n---\n\n## Summary\n\n'
    yield str(environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'summary'))
    yield '\n\n---\n\n## Full Content\n\n'
    yield str(environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'content'))
    yield '\n\n'
    if environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'sources'):
        pass
        yield '---\n\n## Sources\n\n'
        for l_1_source in environment.getattr((undefined(name='payload') if l_0_payload is missing else l_0_payload), 'sources'):
            _loop_vars = {}
            pass
            yield '- '
            yield str(l_1_source)
            yield '\n'
        l_1_source = missing
        yield '\n'
    yield '<!-- contextkit: bytes='
    yield str((undefined(name='bytes') if l_0_bytes is missing else l_0_bytes))
    yield ' sha256='
    yield str((undefined(name='sha256') if l_0_sha256 is missing else l_0_sha256))
    yield ' format='
    yield str((undefined(name='format') if l_0_format is missing else l_0_format))
    yield ' -->\n'

blocks = {}
debug_info = '1=16&3=18&4=20&5=22&11=24&17=26&19=28&24=31&25=35&29=40'