"""Compiled from templates/contextkit.yaml.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1232753335450901769
name = 'contextkit.yaml'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_sections = resolve('sections')
    pass
    yield '# Settings of contextkit: remove the # from a line to change it. `make context_config` shows what is in force.\n'
    for l_1_section in (undefined(name='sections') if l_0_sections is missing else l_0_sections):
        _loop_vars = {}
        pass
        yield '\n# '
        yield str(environment.getattr(l_1_section, 'title'))
        yield '\n'
        for l_2_row in environment.getattr(l_1_section, 'rows'):
            _loop_vars = {}
            pass
            yield '# '
            yield str(environment.getattr(l_2_row, 'name'))
            yield ': '
            yield str(environment.getattr(l_2_row, 'value'))
            yield '\n'
        l_2_row = missing
    l_1_section = missing

blocks = {}
debug_info = '2=13&4=17&5=19&6=23'