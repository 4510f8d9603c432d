"""Compiled from templates/report_table.html.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1427283625242886378
name = 'report_table.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_caption = resolve('caption')
    l_0_heads = resolve('heads')
    l_0_rows = resolve('rows')
    pass
    yield '<div class="wide" tabindex="0" role="region" aria-label="'
    yield str((undefined(name='caption') if l_0_caption is missing else l_0_caption))
    yield '"><table>\n<caption>'
    yield str((undefined(name='caption') if l_0_caption is missing else l_0_caption))
    yield '</caption>\n<thead><tr>'
    for l_1_head in (undefined(name='heads') if l_0_heads is missing else l_0_heads):
        _loop_vars = {}
        pass
        yield '<th scope="col">'
        yield str(l_1_head)
        yield '</th>'
    l_1_head = missing
    yield '</tr></thead>\n<tbody>\n'
    for l_1_row in (undefined(name='rows') if l_0_rows is missing else l_0_rows):
        _loop_vars = {}
        pass
        yield '<tr>'
        for l_2_cell in l_1_row:
            _loop_vars = {}
            pass
            yield '<td'
            if environment.getattr(l_2_cell, 'number'):
                pass
                yield ' class="n"'
            yield '>'
            yield str(environment.getattr(l_2_cell, 'text'))
            yield '</td>'
        l_2_cell = missing
        yield '</tr>\n'
    l_1_row = missing
    yield '</tbody>\n</table></div>\n'

blocks = {}
debug_info = '1=15&2=17&3=19&5=27&6=31'