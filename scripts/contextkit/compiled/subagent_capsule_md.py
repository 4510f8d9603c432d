"""Compiled from templates/subagent_capsule.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 46014679859339560
name = 'subagent_capsule.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_placed = resolve('placed')
    l_0_capsule = resolve('capsule')
    l_0_explained = resolve('explained')
    l_0_copy = resolve('copy')
    try:
        t_1 = environment.filters['fenced']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'fenced' found.")
    pass
    yield '## Context Capsule\n'
    if (undefined(name='placed') if l_0_placed is missing else l_0_placed):
        pass
        yield 'The body of `'
        yield str(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'path'))
        yield '` stands in the scope above.\n'
    else:
        pass
        yield 'Information from the repository, from `'
        yield str(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'path'))
        yield '` ('
        yield str(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'created_at'))
        yield ', ~'
        yield str(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'tokens'))
        yield ' tokens'
        if environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'trimmed'):
            pass
            yield ', trimmed'
        yield '):\n\n'
        yield str(t_1(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'body'), 'markdown'))
        yield '\n'
    if (not (undefined(name='explained') if l_0_explained is missing else l_0_explained)):
        pass
        yield '\nTreat this capsule as authoritative for current context. Verify plan/progress notebooks align; note discrepancies in your progress log.\n'
    yield '\n- Capsule is a curated snapshot; cross-validate with repo artifacts.\n- When finishing work, update plan/progress docs with deltas so future capsules remain accurate.\n- If critical information seems missing, record a `Capsule Gap` note and notify the main agent.\n\n'
    if (environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'trimmed') and (undefined(name='copy') if l_0_copy is missing else l_0_copy)):
        pass
        yield 'The whole of it is in `'
        yield str((undefined(name='copy') if l_0_copy is missing else l_0_copy))
        yield '`.\n'
    yield "A gap is a line `Capsule Gap: …` in your progress log or report; the main agent's next prompt lists it.\n"
    for l_1_line in environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'news'):
        _loop_vars = {}
        pass
        yield '- Since it was written: '
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing

blocks = {}
debug_info = '2=22&3=25&5=30&7=40&9=42&18=46&19=49&22=52&23=56'