"""Compiled from templates/wrapper_hook.sh.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 2180984025973501537
name = 'wrapper_hook.sh'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_version = resolve('version')
    l_0_short = resolve('short')
    l_0_commit = resolve('commit')
    pass
    yield '#!/bin/sh\n# Start a hook with contextkit '
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield ' in the user\'s data folder. A hook fetches nothing: where the\n# toolkit is missing, the user is told at the start of a session, and the host goes on.\ndata=${XDG_DATA_HOME:-$HOME/.local/share}/contextkit\nfor home in "$data/'
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield '" "$data/'
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield '-'
    yield str((undefined(name='short') if l_0_short is missing else l_0_short))
    yield '"; do\n  [ ! -e "$home/pinned-'
    yield str((undefined(name='commit') if l_0_commit is missing else l_0_commit))
    yield '" ] || exec /bin/sh "$home/scripts/hook.sh" "$@"\ndone\ncase "$*" in\n  SessionStart*--host=claude*|SessionStart*--host=codex*)\n    echo \'{"systemMessage": "contextkit is not on this machine yet: run `make context_status` once to fetch it."}\';;\nesac\nexit 0\n'

blocks = {}
debug_info = '2=15&5=17&6=23'