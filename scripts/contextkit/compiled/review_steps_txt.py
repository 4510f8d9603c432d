"""Compiled from templates/review_steps.txt.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 618507805679584245
name = 'review_steps.txt'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_head = resolve('head')
    l_0_how = resolve('how')
    l_0_hosts = resolve('hosts')
    l_0_then = resolve('then')
    pass
    for l_1_line in (undefined(name='head') if l_0_head is missing else l_0_head):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    yield '\n'
    for l_1_started in (undefined(name='how') if l_0_how is missing else l_0_how):
        _loop_vars = {}
        pass
        yield str(l_1_started)
        yield '\n'
    l_1_started = missing
    l_1_loop = missing
    for l_1_host, l_1_loop in LoopContext((undefined(name='hosts') if l_0_hosts is missing else l_0_hosts), undefined):
        l_1_are_known = resolve('are_known')
        l_1_stems = resolve('stems')
        l_1_folder = resolve('folder')
        _loop_vars = {}
        pass
        yield str(('' if environment.getattr(l_1_loop, 'first') else 'or '))
        yield str(environment.getattr(environment.getattr(l_1_host, 'of'), 'title'))
        yield ', '
        yield str(('all in one message' if environment.getattr(environment.getattr(l_1_host, 'of'), 'agent_call') else 'in the root'))
        yield ':\n'
        if environment.getattr(environment.getattr(l_1_host, 'of'), 'agent_call'):
            pass
            for l_2_call in environment.getattr(l_1_host, 'calls'):
                _loop_vars = {}
                pass
                yield '  '
                yield str(l_2_call)
                yield '\n'
            l_2_call = missing
            if (environment.getattr(environment.getattr(l_1_host, 'of'), 'any_agent') and (not (undefined(name='are_known') if l_1_are_known is missing else l_1_are_known))):
                pass
                yield '  (where no agent has such a type: '
                yield str(environment.getattr(environment.getattr(l_1_host, 'of'), 'any_agent'))
                yield ')\n'
        else:
            pass
            yield '  for p in '
            yield str((undefined(name='stems') if l_1_stems is missing else l_1_stems))
            yield '; do '
            yield str(environment.getattr(environment.getattr(l_1_host, 'of'), 'headless'))
            yield " < '"
            yield str((undefined(name='folder') if l_1_folder is missing else l_1_folder))
            yield '\'/"$p" > /dev/null & done\n'
    l_1_loop = l_1_host = l_1_are_known = l_1_stems = l_1_folder = missing
    yield '\nthen: '
    yield str((undefined(name='then') if l_0_then is missing else l_0_then))
    yield '\n'

blocks = {}
debug_info = '1=15&2=18&5=22&6=25&8=29&9=35&10=40&11=42&12=46&14=49&15=52&18=57&22=65'