"""Compiled from templates/eval_marks.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 924061769495783244
name = 'eval_marks.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_rows = resolve('rows')
    pass
    yield 'Mark answers against a key. For each question you get the key and answers named by letters. Mark each answer: "right" (it says what the key says), "half" (a part of it, nothing false), "wrong" (it says something else), "unknown" (it says that it does not know).\n\n'
    l_1_loop = missing
    for l_1_row, l_1_loop in LoopContext((undefined(name='rows') if l_0_rows is missing else l_0_rows), undefined):
        _loop_vars = {}
        pass
        yield str(environment.getattr(l_1_loop, 'index'))
        yield '. '
        yield str(environment.getattr(l_1_row, 'question'))
        yield '\nkey: '
        yield str(environment.getattr(l_1_row, 'key'))
        yield '\n'
        for l_2_answer in environment.getattr(l_1_row, 'answers'):
            _loop_vars = {}
            pass
            yield str(environment.getattr(l_2_answer, 'letter'))
            yield ': '
            yield str(environment.getattr(l_2_answer, 'text'))
            yield '\n'
        l_2_answer = missing
        yield '\n'
    l_1_loop = l_1_row = missing
    yield 'Answer with JSON alone, an object for each question, in order: [{"A": "right", "B": "unknown", …}, …]\n'

blocks = {}
debug_info = '3=14&4=17&5=21&6=23&7=26'