"""Compiled from templates/agent_handoff_template.yaml.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 2016124285413946429
name = 'agent_handoff_template.yaml'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_folder = resolve('folder')
    l_0_limits = resolve('limits')
    l_0_body = resolve('body')
    pass
    yield '# Agent handoff: what one agent leaves to the next instead of its whole profile.\n# An artifact is a file '
    yield str((undefined(name='folder') if l_0_folder is missing else l_0_folder))
    yield '/handoff-<from>-to-<to>-<YYYYMMDDTHHMMSSZ>.yaml of at most\n# '
    yield str(environment.getattr((undefined(name='limits') if l_0_limits is missing else l_0_limits), 'handoff_max_tokens'))
    yield ' tokens; the '
    yield str(environment.getattr((undefined(name='limits') if l_0_limits is missing else l_0_limits), 'handoff_retained'))
    yield ' newest are kept. At most '
    yield str(environment.getattr((undefined(name='limits') if l_0_limits is missing else l_0_limits), 'handoff_decisions'))
    yield ' decisions, '
    yield str(environment.getattr((undefined(name='limits') if l_0_limits is missing else l_0_limits), 'handoff_files'))
    yield ' files_modified, '
    yield str(environment.getattr((undefined(name='limits') if l_0_limits is missing else l_0_limits), 'handoff_blockers'))
    yield ' blockers; an empty\n# list is []. Agents are bare ids (dev); next_action is at most two sentences.\n# Always: story, current task, branch, decisions, files, blockers. Never: persona, commands,\n# dependencies, tool settings, review integrations, greetings; other keys are dropped.\n# `make context_handoff` writes one and fills in branch, files and blockers; `make context_handoff draft=FILE`\n# takes a file of this form; `make handoff_check file=FILE` says what is wrong with one.\n'
    yield str((undefined(name='body') if l_0_body is missing else l_0_body))
    yield '\n'

blocks = {}
debug_info = '2=15&3=17&9=27'