"""Compiled from templates/evaluation.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1782867480568765709
name = 'evaluation.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_command = resolve('command')
    l_0_calls = resolve('calls')
    l_0_rows = resolve('rows')
    l_0_lost = resolve('lost')
    l_0_left_out = resolve('left_out')
    pass
    yield '# What a reader can still answer\n\nModel: `'
    yield str((undefined(name='command') if l_0_command is missing else l_0_command))
    yield '`. Each text was read whole by the model that wrote six questions and keys; then\nfresh calls answered them from one kind of material each, and one more marked the answers without\nknowing whose they were. '
    yield str((undefined(name='calls') if l_0_calls is missing else l_0_calls))
    yield '.\n\n| arm | kind | texts | questions | right % | interval | wrong | tokens a text |\n|---|---|---|---|---|---|---|---|\n'
    for l_1_row in (undefined(name='rows') if l_0_rows is missing else l_0_rows):
        _loop_vars = {}
        pass
        yield '| '
        yield str(environment.getattr(l_1_row, 'arm'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'kind'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'documents'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'questions'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'right'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'low'))
        yield ' to '
        yield str(environment.getattr(l_1_row, 'high'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'wrong'))
        yield ' | '
        yield str(environment.getattr(l_1_row, 'tokens'))
        yield ' |\n'
    l_1_row = missing
    yield '\n`receipt` is what contextkit hands over, `opened` the same and one part that the reader asked for,\n`cut` head and tail of the same tokens, `whole` the text, `nothing` no material. A wrong answer is\nworse than none. Differences of less than five points in a hundred questions mean nothing.\n\n'
    if (undefined(name='lost') if l_0_lost is missing else l_0_lost):
        pass
        yield '## Where the receipt lost to head and tail\n\n| text | kind | receipt % | cut % |\n|---|---|---|---|\n'
        for l_1_one in (undefined(name='lost') if l_0_lost is missing else l_0_lost):
            _loop_vars = {}
            pass
            yield '| '
            yield str(environment.getattr(l_1_one, 'document'))
            yield ' | '
            yield str(environment.getattr(l_1_one, 'kind'))
            yield ' | '
            yield str(environment.getattr(l_1_one, 'receipt'))
            yield ' | '
            yield str(environment.getattr(l_1_one, 'cut'))
            yield ' |\n'
        l_1_one = missing
        yield '\n'
    if (undefined(name='left_out') if l_0_left_out is missing else l_0_left_out):
        pass
        yield 'Left out, since a call about them gave nothing usable: '
        yield str((undefined(name='left_out') if l_0_left_out is missing else l_0_left_out))
        yield '.\n'

blocks = {}
debug_info = '3=17&5=19&9=21&10=25&17=45&22=48&23=52&27=62&28=65'